package nodeipam

import (
	"sync"

	"k8s.io/kubernetes/pkg/controller/nodeipam"
	"k8s.io/kubernetes/pkg/controller/nodeipam/ipam/cidrset"

	"ipamsim/model"
	"ipamsim/sim/ipam"
	"ipamsim/sim/ipam/hostlocal"
)

// Upstream's module, and the folder of the controller in it.
const (
	module     = "k8s.io/kubernetes"
	controller = module + "/pkg/controller/nodeipam"
)

// managerName is the name of the process. Several may run at the same time.
const managerName = "kube-controller-manager"

// New returns the node IPAM controller as an address manager.
func New() *ipam.Manager {
	settle()
	return &ipam.Manager{
		Name: "nodeipam", Upstream: upstreamVersion(), Sources: []ipam.Source{{Module: upstreamVersion(), Package: controller, Root: root()}},
		Terms:     "A node slice is a podCIDR of a Node, written by the node IPAM controller; network pods is what --cluster-cidr says, and a pool is called NODE/PODCIDR.",
		Processes: []ipam.Process{{Name: managerName, Daemon: true, Several: true}},
		Primary:   primary, Read: readRecord, Uses: ipam.Uses{Disk: true}, Open: open,
	}
}

// settle registers upstream's metrics, once and outside of bubbles: the first run of a
// process would differ from the others.
var settle = sync.OnceFunc(func() {
	_, _ = cidrset.NewCIDRSet(ipnet("10.0.0.0/24"), 24)
})

// root is the folder of upstream's module.
func root() string { return ipam.Root(module, nodeipam.NewNodeIpamController) }

// upstreamVersion is "k8s.io/kubernetes@v1.37.2", as the build knows it.
func upstreamVersion() string { return ipam.Linked(module, root()) }

// open starts the manager in one run. It starts no goroutine.
func open(env ipam.Env) (ipam.Instance, error) {
	i := &instance{env: env, disks: hostlocal.NewDisks(env.Backends)}
	record, err := hostlocal.NewRecord(env.API, i.disks, places(env.Networks))
	if err != nil {
		return ipam.Instance{}, err
	}
	return ipam.Instance{
		Add: i.add, Del: i.del, Observe: record.Observe, Act: i.act,
		Run: map[string]ipam.Run{managerName: i.manage},
	}, nil
}

// readRecord is what the Node objects among manifests say.
func readRecord(objects []ipam.Object, networks []model.Network) (model.Snapshot, error) {
	return hostlocal.ReadRecord(objects, places(networks))
}

// places are the locations of host-local's allocations of each network.
func places(networks []model.Network) []hostlocal.Place {
	out := []hostlocal.Place{}
	for _, n := range networks {
		out = append(out, hostlocal.Place{Network: n, Dir: hostlocal.DataDir(networkKey), PodCIDRs: true})
	}
	return out
}

// instance is the manager in one run.
type instance struct {
	env   ipam.Env
	disks *hostlocal.Disks

	started sync.Once // the first process has read the configuration
	text    string
	err     error
}
