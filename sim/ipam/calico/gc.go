package calico

import (
	"context"

	"github.com/projectcalico/calico/libcalico-go/lib/clientv3"
	"k8s.io/client-go/kubernetes"

	"ipamsim/sim"
	"ipamsim/sim/ipam"
)

// The names of Calico's garbage collector, as a daemon and as one pass.
const (
	controllerName = "ipam-controller"
	passName       = "ipam-gc"
)

// processes are the two ways to run Calico's garbage collector, the IPAM controller of
// calico-kube-controllers, and calico-node's allocators of tunnel addresses.
//
//   - ipam-controller: the whole process in virtual time, until its context ends.
//     More than one at the same time is a failover: upstream has no leader election, only
//     one replica with the strategy Recreate.
//   - ipam-gc: one full scan, started by a cron, an operator or a schedule. The instance
//     keeps what the controller remembers between scans.
//
// Source: manifests/calico-kube-controllers.yaml (v3.31.0).
var processes = []ipam.Process{
	{Name: controllerName, Daemon: true, Several: true, ClientGo: ClientGo},
	{Name: passName, ClientGo: ClientGo},
	{Name: tunnelName, Daemon: true, PerNode: true, ClientGo: ClientGo},
}

// run is the code of the processes. One set of passes must come from one call.
func (i *instance) run() map[string]ipam.Run {
	p := &passes{}
	return map[string]ipam.Run{
		controllerName: i.ipamController,
		passName:       func(ctx context.Context, g *sim.Gate, _ string) error { return i.ipamPass(ctx, g, p) },
		tunnelName:     i.tunnelAddresses,
	}
}

// gcClients are one process's clients.
type gcClients struct {
	calico clientv3.Interface
	kube   *kubernetes.Clientset
}

// gcQPS is kube-controllers' limit of requests to the datastore.
const gcQPS = 500

// gcClients dials as kube-controllers does.
//
// Source: kube-controllers/cmd/kube-controllers/main.go, getClients (v3.31.0, v3.30.7).
func (i *instance) gcClients(g *sim.Gate) (c gcClients, err error) {
	d := daemon{i, g}
	if c.calico, err = d.Calico(gcQPS); err != nil {
		return c, err
	}
	c.kube, err = d.Kube(&gcLimits)
	return c, err
}
