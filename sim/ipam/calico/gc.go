package calico

import (
	"context"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/projectcalico/calico/kube-controllers/pkg/config"
	"github.com/projectcalico/calico/libcalico-go/lib/clientv3"
	"k8s.io/client-go/kubernetes"

	"ipamsim/sim"
	"ipamsim/sim/ipam"
	"ipamsim/sim/kube"
)

// The names of Calico's garbage collector, as a daemon and as one pass.
const (
	controllerName = "ipam-controller"
	passName       = "ipam-gc"
)

// collectors are the two ways to run Calico's garbage collector, the IPAM
// controller of calico-kube-controllers.
//
//   - ipam-controller: the whole process in virtual time, until its context ends.
//     Several at once are a leader failover: upstream has no leader election, only
//     one replica with the strategy Recreate.
//   - ipam-gc: one full scan, started by a cron, an operator or a schedule. What
//     the controller remembers between scans is kept by the reconciler, so one
//     set of passes must come from one call of collectors.
//
// Source: manifests/calico-kube-controllers.yaml (v3.31.0).
func (i *instance) collectors() []ipam.Reconciler {
	p := &passes{}
	return []ipam.Reconciler{
		{Name: controllerName, Daemon: true, Run: i.ipamController},
		{Name: passName, Run: func(ctx context.Context, g *sim.Gate, _ string) error { return i.ipamPass(ctx, g, p) }},
	}
}

// gcClients are one process's clients.
type gcClients struct {
	calico clientv3.Interface
	kube   *kubernetes.Clientset
}

// gcClients dials as kube-controllers does: 100 requests a second to the
// Kubernetes API, in bursts of 200.
//
// Source: kube-controllers/cmd/kube-controllers/main.go, getClients (v3.31.0).
func (i *instance) gcClients(g *sim.Gate) (c gcClients, err error) {
	if err := i.setup(); err != nil {
		return c, err
	}
	if c.calico, err = i.ds.client(g); err != nil {
		return c, fmt.Errorf("calico: %w", err)
	}
	k := kube.Config(i.env.API.Door(g))
	k.QPS, k.Burst = 100, 200
	c.kube, err = coreOnly(k)
	return c, err
}

// gcEnvironment is the configuration that kube-controllers takes from its
// environment. The node controller alone is enabled.
func (i *instance) gcEnvironment() config.Config {
	setEnvironment()
	ds := i.env.Datastore
	if ds == "" {
		ds = etcdDatastore
	}
	return config.Config{LogLevel: "info", WorkloadEndpointWorkers: 1, ProfileWorkers: 1, PolicyWorkers: 1, NodeWorkers: 1, DatastoreType: ds}
}

// setEnvironment sets the environment variables that upstream reads for itself,
// once for the process: what its manifests set, as far as it concerns the node
// controller, and nothing that the user's shell has set.
var setEnvironment = sync.OnceFunc(func() {
	for _, v := range config.AllEnvs {
		if err := os.Unsetenv(v); err != nil {
			panic(err) // the name is a constant
		}
	}
	if err := os.Setenv(config.EnvEnabledControllers, "node"); err != nil {
		panic(err)
	}
})

// initialise waits until the datastore can be used, for at most a minute.
//
// Source: kube-controllers/cmd/kube-controllers/main.go, main (v3.31.0).
func initialise(ctx context.Context, c clientv3.Interface) error {
	ctx, cancel := context.WithTimeout(ctx, 60*time.Second)
	defer cancel()
	for {
		err := c.EnsureInitialized(ctx, "", "k8s")
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("failed to initialize Calico datastore: %w", err)
		case <-time.After(5 * time.Second):
		}
	}
}
