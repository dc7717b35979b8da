package services

import (
	"context"
	"errors"
	"sync"

	utilnet "k8s.io/apimachinery/pkg/util/net"
	genericregistry "k8s.io/apiserver/pkg/registry/generic/registry"
	"k8s.io/kubernetes/pkg/registry/core/service/ipallocator"
	repairports "k8s.io/kubernetes/pkg/registry/core/service/portallocator/controller"

	"ipamsim/model"
	"ipamsim/model/act"
	"ipamsim/sim"
	"ipamsim/sim/ipam"
	"ipamsim/sim/kube"
)

// Upstream's modules, and the folders of the simulated code.
const (
	module    = "k8s.io/kubernetes"
	storage   = module + "/pkg/registry/core/service"
	defaults  = module + "/pkg/controlplane/controller/defaultservicecidr"
	ranges    = module + "/pkg/controller/servicecidrs"
	apiserver = "k8s.io/apiserver"
	registry  = apiserver + "/pkg/registry/generic/registry"
)

// The processes.
const (
	serverName  = "kube-apiserver"
	managerName = "kube-controller-manager"
)

// New is what hands out Services' addresses and node ports, as an address manager.
func New() *ipam.Manager {
	settle()
	kubernetes, root := upstream(module, ipallocator.NewMetaAllocator)
	generic, genericRoot := upstream(apiserver, genericregistry.NamespaceKeyFunc)
	source := func(pkg string) ipam.Source { return ipam.Source{Module: kubernetes, Package: pkg, Root: root} }
	return &ipam.Manager{
		Name: "services", Upstream: kubernetes,
		Terms:     "A cluster IP is guarded by the IPAddress object of its name; GET, CREATE, UPDATE and DELETE of a kube-apiserver are its storage's requests to etcd, kube-apiserver~2 is the second one.",
		Sources:   []ipam.Source{source(storage), source(defaults), source(ranges), {Module: generic, Package: registry, Root: genericRoot, Carries: true}},
		Processes: []ipam.Process{{Name: serverName, Daemon: true, Several: true}, {Name: managerName, Daemon: true}},
		Primary:   primary, Check: check, CheckCommand: checkCommand, Read: readRecord, Open: open,
	}
}

// settle registers upstream's metrics, once and outside of bubbles: the first run of a
// process would differ from the others.
var settle = sync.OnceFunc(func() { repairports.NewRepair(0, nil, nil, utilnet.PortRange{}, nil) })

// upstream is "k8s.io/kubernetes@v1.37.2", as the build knows it, and the module's folder.
func upstream(module string, function any) (version, root string) {
	root = ipam.Root(module, function)
	return ipam.Linked(module, root), root
}

// open starts the manager in one run. It starts no goroutine.
func open(env ipam.Env) (ipam.Instance, error) {
	i := &instance{env: env, record: newRecord(env)}
	i.found = i.raw()
	if err := i.record.follow(env.API); err != nil {
		return ipam.Instance{}, err
	}
	return ipam.Instance{
		Add: add, Del: del, Observe: i.observe, Act: i.act, Command: i.command,
		Run:  map[string]ipam.Run{serverName: i.serve, managerName: i.manage},
		Keep: &ipam.Keep{Keeps: keeps, Change: i.change, Names: i.names, Export: i.export},
	}, nil
}

// instance is the manager in one run.
type instance struct {
	env    ipam.Env
	record *record
	found  *kube.Peer // stores the initial objects

	started sync.Once // the first process has read the configuration
	conf    config
	err     error

	mu      sync.Mutex // never held while a message is parked
	servers []*server  // that run, in the order in which they were started
}

var errNoPods = errors.New("pods have no addresses of Services")

func add(context.Context, *sim.Gate, ipam.Call) (ipam.Result, error) { return ipam.Result{}, errNoPods }

func del(context.Context, *sim.Gate, ipam.Call) error { return nil }

func (i *instance) observe(context.Context) (model.Snapshot, error) { return i.record.snapshot() }

func (i *instance) act(detail any) act.Act {
	if x, ok := detail.(kube.Stored); ok {
		return actOf(x)
	}
	return act.Act{}
}
