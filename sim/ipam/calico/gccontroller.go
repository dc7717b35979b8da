package calico

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"sync"
	_ "unsafe" // for linkname

	"github.com/projectcalico/calico/kube-controllers/pkg/config"
	"github.com/projectcalico/calico/libcalico-go/lib/clientv3"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"ipamsim/sim"
	"ipamsim/sim/hermetic"
	"ipamsim/sim/ipam/calico/adapter"
	_ "ipamsim/sim/ipam/calico/upstream/kubecontrollers/program" // called by name
	"ipamsim/sim/ipam/platform"
	"ipamsim/sim/kube"
)

var (
	// errConfigChanged ends a controller whose KubeControllersConfiguration has changed: it
	// exits so that it is started again.
	errConfigChanged = errors.New("configuration changed; restarting")

	errStock = errors.New("calico: kube-controllers can only be run on the hermetic runtime; make build uses it")
)

// ipamController is one run of calico-kube-controllers with its node controller.
//
// IP pools are hidden from its data feed (adapter/datafeed).
func (i *instance) ipamController(ctx context.Context, g *sim.Gate, _ string) error {
	return i.kubeControllers(ctx, g, environment[config.EnvEnabledControllers])
}

// LoadBalancerController is the process name of its load balancer controller, which
// OpenWithLoadBalancer adds.
const LoadBalancerController = "loadbalancer-controller"

// loadBalancer is one run of calico-kube-controllers with its load balancer controller.
// In Calico's manifest it is of one process with the node controller.
func (i *instance) loadBalancer(ctx context.Context, g *sim.Gate, _ string) error {
	return i.kubeControllers(ctx, g, "loadbalancer")
}

// kubeControllers runs calico-kube-controllers from its main function, with some of its controllers
// (copies.txt).
//
// It returns errConfigChanged if the configuration changed. On the stock runtime it aborts the run:
// upstream leaves goroutines that never end, and a bubble there waits for them.
func (i *instance) kubeControllers(ctx context.Context, g *sim.Gate, enabled string) error {
	if !hermetic.Enabled {
		g.World().Abort(errStock)
		return errStock
	}
	setEnvironment()
	env := maps.Clone(environment)
	env["DATASTORE_TYPE"], env[config.EnvEnabledControllers] = i.env.Datastore, enabled
	p := &platform.Program{
		Name: "kube-controllers", Host: platform.NewHost(map[string][]byte{}), Ctx: ctx, Machine: daemon{i, g}, Crash: g.Crash, Env: env,
	}
	switch end := p.Run(kubeControllersMain); {
	case ctx.Err() != nil:
		return ctx.Err()
	case end.Code == adapter.RestartReturnCode:
		return errConfigChanged
	default:
		return fmt.Errorf("exit status %d", end.Code)
	}
}

// kubeControllersMain is the program.
//
//go:linkname kubeControllersMain ipamsim/sim/ipam/calico/upstream/kubecontrollers/program.main
func kubeControllersMain()

// environment is the environment of kube-controllers, without the settings of the datastore.
// Upstream's manifests list several controllers; here only the node controller runs. Its health
// checks, which only read, every ten seconds, and the compaction of etcd are off.
var environment = map[string]string{
	config.EnvEnabledControllers: "node",
	config.EnvHealthEnabled:      "false",
	config.EnvCompactionPeriod:   "0",
}

// setEnvironment does the same for the variables that upstream's configuration reads without an
// adapter, once for the process, and removes those of the user's shell.
var setEnvironment = sync.OnceFunc(func() {
	for _, name := range config.AllEnvs {
		err := os.Unsetenv(name)
		if value, ok := environment[name]; ok {
			err = os.Setenv(name, value)
		}
		if err != nil {
			panic(err) // the name is a constant
		}
	}
})

// daemon is a process of Calico's that is no plugin.
type daemon struct {
	i *instance
	g *sim.Gate
}

var _ adapter.Machine = daemon{}

// Calico is the process's client of the datastore.
func (d daemon) Calico(qps float32) (clientv3.Interface, error) {
	if err := d.i.setup(); err != nil {
		return nil, err
	}
	c, err := d.i.ds.Client(d.g, qps)
	if err != nil {
		return nil, fmt.Errorf("calico: %w", err)
	}
	return c, nil
}

// Kube is its clientset for the Kubernetes API.
func (d daemon) Kube(c *rest.Config) (*kubernetes.Clientset, error) {
	k := kube.Config(d.i.env.API.Transport(d.g))
	k.QPS, k.Burst = c.QPS, c.Burst
	return coreOnly(k)
}

// Plug and Unplug do nothing: it has no pod's interface.
func (daemon) Plug() error   { return nil }
func (daemon) Unplug() error { return nil }
