// Package cluster is the simulated Kubernetes cluster around an address manager: its
// machines, with kubelets, container runtimes, CNI calls, disks and the manager's daemons,
// and the script of a run. Kubernetes' controllers (package control), the ground truth
// (checker) and what happens to machines (action, hazard) have packages of their own.
package cluster

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"ipamsim/model"
	"ipamsim/model/invariant"
	"ipamsim/model/route"
	"ipamsim/sim"
	"ipamsim/sim/cluster/backends"
	"ipamsim/sim/cluster/checker"
	"ipamsim/sim/cluster/control"
	"ipamsim/sim/cluster/control/simple"
	"ipamsim/sim/cluster/kubeapi"
	"ipamsim/sim/cluster/multus"
	"ipamsim/sim/cluster/turns"
	"ipamsim/sim/etcd"
	"ipamsim/sim/ipam"
	"ipamsim/sim/ipam/interfaceplugin"
	"ipamsim/sim/kube"
)

// Config describes a cluster and what will happen to it.
type Config struct {
	Manager    *ipam.Manager
	Networks   []Network
	Primary    string       // key of the network that every pod gets unasked; "": none
	Objects    []Object     // stored before the first step, in this order
	Daemons    []string     // names of the manager's daemons that run
	Script     []Entry      // sorted by At
	Background []Background // other processes, started in this order
	ClocksJump bool         // the clocks of machines may jump, see Clock
	Until      time.Duration
	Settle     time.Duration // quiet time after Until; quiescent invariants are judged at its end, 0: not at all
	Timers     Timers
	// Controllers makes Kubernetes' controllers; nil: the simple ones.
	Controllers func(control.Env) control.Set
	Settings    invariant.Settings
	Fabric      route.Fabric  // the network between the nodes
	Outside     []model.Taken // addresses that belong to neither a pod nor a node
	Metrics     time.Duration // measure at this interval; 0: never
	Film        bool          // keep what everything looked like after every step
	Samples     checker.Samples
	// InTurn lets kubelets work on one pod at a time, see turns; 0: as they are.
	InTurn time.Duration
	// Datastore is where the manager keeps its record, if it has a choice.
	Datastore string
	// Stop is asked after every step, with the violations that are new at it. True
	// ends the run there, and what only holds at rest is not judged. May be nil.
	Stop func(at *sim.Step, found []model.Violation) bool
}

// Network is one network, the primary one or a NetworkAttachmentDefinition: its
// policy and its CNI config.
type Network struct {
	model.Network
	Config json.RawMessage
}

// Timers are the timers of the controllers, which have their own defaults, and of kubelets.
type Timers struct {
	control.Timers
	SandboxRetry time.Duration // kubelet tries a failed sandbox again after: 10 s
	ContainerGC  time.Duration // how often a kubelet removes sandboxes that are stopped: 1 min
}

// Cluster is one cluster in one run. Its fields must not be changed.
type Cluster struct {
	World    *sim.World
	Config   Config                      // of the cluster
	Kinds    map[string]kubeapi.Resource // that the API server serves
	Cache    *kubeapi.Cache              // stored pods and nodes
	Checker  *checker.Checker            // the ground truth and the violations so far
	Instance ipam.Instance               // the manager
	Plugins  *interfaceplugin.Faults     // faults of the plugins of its networks

	api         *kube.Server
	store       *etcd.Run
	procs       map[string]process
	feed        kubeapi.Feed
	controllers control.Set

	mu       sync.Mutex
	nodes    map[string]*node
	used     map[string]int // how often a name was taken, for unique
	clocks   map[string]*sim.Clock
	turns    turns.Queue
	backends *backends.Set
	asked    multus.Asked
}

// Start builds the cluster inside the bubble, on its root goroutine, and hooks it
// to the world. The run is over when the script is.
func Start(w *sim.World, store *etcd.Run, api *kube.Server, cfg Config) (*Cluster, error) {
	c, err := open(w, store, api, cfg)
	if err != nil {
		return nil, err
	}
	w.Hooks = sim.Hooks{Settle: store.Pump, Step: c.stepped, Panic: c.panicked, Withdrawn: c.Checker.Withdrawn, End: c.Checker.Ended}
	if err := c.startControllers(); err != nil {
		return nil, err
	}
	w.Spawn(sim.Process{ID: "script", Run: c.script})
	if cfg.Film {
		err = c.Checker.StartRecording()
	}
	return c, err
}

// open creates the cluster and stores its objects. Nothing runs yet.
func open(w *sim.World, store *etcd.Run, api *kube.Server, cfg Config) (*Cluster, error) {
	c, err := blank(w, cfg)
	if err != nil {
		return nil, err
	}
	c.api, c.store = api, store
	if c.Instance, err = cfg.Manager.Open(ipam.Env{API: api, Store: store, Networks: c.networks(), Config: c.config, Datastore: cfg.Datastore, Device: c.Checker.Device, Backends: c.backends.IPAM()}); err != nil {
		return nil, err
	}
	c.Instance = interfaceplugin.Around(c.Instance, c.Plugins)
	for _, p := range cfg.Manager.Processes {
		if run := c.Instance.Run[p.Name]; run != nil {
			c.procs[p.Name] = process{p, run.BuiltWith(p.ClientGo)}
		}
	}
	c.controllers = c.Config.Controllers(control.Env{
		World: w, API: api, Kinds: cfg.kinds(), Name: c.Name, Stored: c.Cache, Feed: &c.feed, Machine: c.Checker.Machine, Timers: c.Config.Timers.Timers, Alone: c.Config.InTurn > 0, Daemons: cfg.Daemons,
	})
	api.OnChange(c.changed)
	return c, c.load(cfg.Objects)
}

// blank returns a cluster without any state.
func blank(w *sim.World, cfg Config) (*Cluster, error) {
	cfg.Timers.APIRetry = cmp.Or(cfg.Timers.APIRetry, time.Second)
	cfg.Timers.SandboxRetry = cmp.Or(cfg.Timers.SandboxRetry, 10*time.Second)
	cfg.Timers.ContainerGC = cmp.Or(cfg.Timers.ContainerGC, time.Minute)
	if cfg.Controllers == nil {
		cfg.Controllers = simple.New
	}
	c := &Cluster{
		World: w, Config: cfg, Cache: kubeapi.NewCache(w.Now),
		procs: map[string]process{}, nodes: map[string]*node{},
		used:     map[string]int{},
		clocks:   map[string]*sim.Clock{},
		turns:    turns.Queue{Step: cfg.InTurn},
		backends: backends.New(w), Plugins: interfaceplugin.NewFaults(cfg.Manager.Plugin),
	}
	for _, n := range cfg.Networks {
		c.Plugins.Network(n.Key, n.Config)
	}
	c.Checker = checker.New(checker.Config{
		World: w, Networks: c.networks(), Primary: cfg.Primary, Settings: cfg.Settings, Fabric: cfg.Fabric, Outside: cfg.Outside,
		Site: ipam.CallSites(cfg.Manager), Metrics: cfg.Metrics, Samples: cfg.Samples,
		Observe:  func(ctx context.Context) (model.Snapshot, error) { return c.Instance.Observe(ctx) },
		Revision: func() int64 { return c.store.Revision() + c.backends.Revision() },
	})
	var err error
	c.Kinds, err = kubeapi.Kinds(cfg.Manager)
	return c, err
}

// Direct is a client of the API server that sends no messages of the run.
func (c *Cluster) Direct() kubeapi.Client { return kubeapi.New(c.api.Direct()) }

// load stores the scenario's objects, as if they had always been there.
func (c *Cluster) load(objs []Object) error {
	direct := c.Direct()
	var owners kubeapi.Owners
	if c.Config.Primary != "" || c.api.Controlled() {
		objs = kubeapi.WithNamespaces(objs, c.api.Controlled())
	}
	for _, o := range objs {
		r, ok := c.Kinds[o.Kind]
		if !ok {
			return fmt.Errorf("cluster: kind %s is not served", o.Kind)
		}
		o, err := owners.Resolve(c.api, o)
		if err != nil {
			return &Rejected{o, err}
		}
		if k := c.Keeps(o.Kind); k != nil {
			err = k.Change(context.Background(), nil, ipam.Create, o)
		} else {
			err = direct.Create(kube.AsFound(context.Background()), r, o.Namespace, o.Body)
		}
		if err == nil && o.Kind == "Pod" {
			err = kubeapi.StoreStatus(context.Background(), direct, o)
		}
		if err != nil {
			return &Rejected{o, err}
		}
		c.World.Progress()
	}
	c.store.Pump()
	return nil
}

// Rejected is a manifest that the API server refused: the user's mistake, in the
// server's words.
type Rejected struct {
	Object Object
	Err    error
}

func (r *Rejected) Error() string {
	return fmt.Sprintf("cluster: %s %s: %v", r.Object.Kind, r.Object.Name, r.Err)
}

// Unwrap is the server's error.
func (r *Rejected) Unwrap() error { return r.Err }

func (c *Cluster) startControllers() error {
	c.Checker.StartRouting()
	c.controllers.Start()
	for _, name := range c.Nodes() {
		if err := c.begin(name); err != nil {
			return err
		}
	}
	for _, name := range c.Config.Daemons {
		if r := c.procs[name]; !r.PerNode {
			c.startDaemon(r, "")
		}
	}
	c.Checker.StartMetrics()
	if err := c.Checker.StartSamples(); err != nil {
		return err
	}
	for _, b := range c.Config.Background {
		b.Start(c)
	}
	return nil
}

// Name returns a process name that is unique in the run: web-0, web-0~2, …
func (c *Cluster) Name(name string) string {
	if n := c.count(name); n > 1 {
		return fmt.Sprintf("%s~%d", name, n)
	}
	return name
}

// count is how often it was called with this name, this call included.
func (c *Cluster) count(name string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.used[name]++
	return c.used[name]
}

// spawnUpstream starts a process that runs the address manager's own code.
func (c *Cluster) spawnUpstream(id sim.ActorID, node string, run func(context.Context, *sim.Gate) error) *sim.Actor {
	c.Checker.Spawned(id, node)
	return c.World.Spawn(sim.Process{ID: id, Group: node, Mortal: true, Clock: c.Clock(node), Run: run})
}

// networks is the policy, as manifests have it.
func (c *Cluster) networks() (out []model.Network) {
	for _, n := range c.Config.Networks {
		out = append(out, n.Network)
	}
	return out
}
