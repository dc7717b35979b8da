// Package cluster is the simulated Kubernetes cluster around an address manager:
// nodes, kubelets, workload controllers, cron, an operator's hands. It keeps the
// ground truth, and compares it with the record after every step.
package cluster

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"ipamsim/model"
	"ipamsim/model/invariant"
	"ipamsim/model/metric"
	"ipamsim/model/route"
	"ipamsim/sim"
	"ipamsim/sim/cluster/control"
	"ipamsim/sim/cluster/control/simple"
	"ipamsim/sim/cluster/kubeapi"
	"ipamsim/sim/etcd"
	"ipamsim/sim/ipam"
	"ipamsim/sim/kube"
)

// Config describes a cluster and what will happen to it.
type Config struct {
	Manager  *ipam.Manager
	Networks []Network
	Primary  string   // key of the network that every pod gets unasked; "": none
	Objects  []Object // stored before the first step, in this order
	Crons    []Cron
	Daemons  []string // names of the manager's daemons that run
	Churn    []Churn
	Script   []Entry // sorted by At
	Hazards  Hazards
	Until    time.Duration
	Settle   time.Duration // quiet time after Until; quiescent invariants are judged at its end, 0: not at all
	Timers   Timers
	// Controllers makes Kubernetes' controllers; nil: the simple ones.
	Controllers func(control.Env) control.Set
	Settings    invariant.Settings
	Fabric      route.Fabric  // the network between the nodes
	Metrics     time.Duration // measure at this interval; 0: never
	Film        bool          // keep what everything looked like after every step
	Looks       Looks
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

// Timers are those of the controllers, who have defaults of their own, and of kubelets.
type Timers struct {
	control.Timers
	SandboxRetry time.Duration // kubelet tries a failed sandbox again after: 10 s
}

// Cluster is one cluster in one run.
type Cluster struct {
	cfg   Config
	w     *sim.World
	api   *kube.Server
	store *etcd.Run
	inst  ipam.Instance
	procs map[string]process
	kinds map[string]kubeapi.Resource

	stored      *kubeapi.Cache
	feed        kubeapi.Feed
	controllers control.Set

	mu       sync.Mutex
	truth    truth
	nodes    map[string]*node
	upstream map[sim.ActorID]string // processes that run the address manager's code, and on which node
	used     map[string]int         // how often a name was taken, for unique
	judge    judge
	routing  *routing // nil: the primary network announces no routes
	series   *metric.Series
	camera   *camera // nil: nobody films
	rested   bool    // the quiet time after the script is over
	over     bool    // the run has been judged
	clocks   map[string]*sim.Clock
	traps    []*trap // set by hazards, in the order of setting
	turns    turns
	doors    doors
	asked    asked
}

// Start builds the cluster inside the bubble, on its root goroutine, and hooks it
// to the world. The run is over when the script is.
func Start(w *sim.World, store *etcd.Run, api *kube.Server, cfg Config) (*Cluster, error) {
	c, err := open(w, store, api, cfg)
	if err != nil {
		return nil, err
	}
	w.Hooks = sim.Hooks{Settle: store.Pump, Step: c.stepped, Panic: c.panicked, Withdrawn: c.withdrawn, End: c.ended}
	if err := c.startControllers(); err != nil {
		return nil, err
	}
	w.Spawn(sim.Process{ID: "script", Run: c.script})
	return c, c.startFilm()
}

// open makes the cluster and stores its objects. Nothing runs yet.
func open(w *sim.World, store *etcd.Run, api *kube.Server, cfg Config) (*Cluster, error) {
	c, err := blank(w, cfg)
	if err != nil {
		return nil, err
	}
	c.api, c.store = api, store
	if c.inst, err = cfg.Manager.Open(ipam.Env{API: api, Store: store, Networks: c.judge.networks, Datastore: cfg.Datastore, Device: c.device, Doors: c.doors.of(c)}); err != nil {
		return nil, err
	}
	for _, p := range cfg.Manager.Processes {
		if run := c.inst.Run[p.Name]; run != nil {
			c.procs[p.Name] = process{p, run}
		}
	}
	c.controllers = c.cfg.Controllers(control.Env{
		World: w, API: api, Name: c.unique, Stored: c.stored, Feed: &c.feed, Machine: c.machine, Timers: c.cfg.Timers.Timers,
	})
	api.OnChange(c.changed)
	return c, c.load(cfg.Objects)
}

// blank is a cluster of which nothing is known.
func blank(w *sim.World, cfg Config) (*Cluster, error) {
	cfg.Timers.APIRetry = cmp.Or(cfg.Timers.APIRetry, time.Second)
	cfg.Timers.SandboxRetry = cmp.Or(cfg.Timers.SandboxRetry, 10*time.Second)
	if cfg.Controllers == nil {
		cfg.Controllers = simple.New
	}
	c := &Cluster{
		cfg: cfg, w: w,
		procs: map[string]process{}, nodes: map[string]*node{},
		used: map[string]int{}, upstream: map[sim.ActorID]string{},
		stored: kubeapi.NewCache(w.Now), clocks: map[string]*sim.Clock{},
		turns: turns{step: cfg.InTurn, born: map[types.UID]int{}},
	}
	c.truth.init()
	c.judge.init(cfg)
	var err error
	c.kinds, err = kubeapi.Kinds(cfg.Manager)
	return c, err
}

// load stores the scenario's objects, as if they had been there for ever.
func (c *Cluster) load(objs []Object) error {
	direct := kubeapi.New(c.api.Direct())
	var known uids
	if c.cfg.Primary != "" || c.api.Controlled() {
		objs = append(missingNamespaces(objs), objs...)
	}
	for _, o := range objs {
		r, ok := c.kinds[o.Kind]
		if !ok {
			return fmt.Errorf("cluster: kind %s is not served", o.Kind)
		}
		o, err := known.resolve(c, o)
		if err != nil {
			return &Rejected{o, err}
		}
		if k := c.keeps(o.Kind); k != nil {
			err = k.Change(context.Background(), nil, ipam.Create, o)
		} else {
			err = direct.Create(kube.AsFound(context.Background()), r, o.Namespace, o.Body)
		}
		if err == nil && o.Kind == "Pod" {
			err = storeStatus(context.Background(), direct, o)
		}
		if err != nil {
			return &Rejected{o, err}
		}
		c.w.Progress()
	}
	c.store.Pump()
	return nil
}

// missingNamespaces are those that objects live in and that have no manifest. A
// cluster has them; the CNI plugin of a primary network asks for them.
func missingNamespaces(objs []Object) []Object {
	want := map[string]bool{"default": true, "kube-system": true}
	for _, o := range objs {
		if o.Namespace != "" {
			want[o.Namespace] = true
		}
	}
	for _, o := range objs {
		if o.Kind == "Namespace" {
			delete(want, o.Name)
		}
	}
	var out []Object
	for _, name := range slices.Sorted(maps.Keys(want)) {
		body := `{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"` + name + `","labels":{"kubernetes.io/metadata.name":"` + name + `"}}}`
		out = append(out, Object{Kind: "Namespace", Name: name, Body: json.RawMessage(body)})
	}
	return out
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
	c.startRouting()
	c.controllers.Start()
	for _, name := range c.nodeNames() {
		if err := c.begin(name); err != nil {
			return err
		}
	}
	for _, name := range c.cfg.Daemons {
		if r := c.procs[name]; !r.PerNode {
			c.startDaemon(r, "")
		}
	}
	c.startMetrics()
	if err := c.startLooks(); err != nil {
		return err
	}
	for i := range c.cfg.Crons {
		c.startCron(c.cfg.Crons[i])
	}
	for i := range c.cfg.Churn {
		c.startChurn(i, c.cfg.Churn[i])
	}
	c.startHazards()
	return nil
}

// unique makes a name that no process of this run has had: web-0, web-0~2, …
func (c *Cluster) unique(name string) string {
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
	c.mu.Lock()
	c.upstream[id] = node
	c.mu.Unlock()
	return c.w.Spawn(sim.Process{ID: id, Group: node, Mortal: true, Clock: c.clock(node), Run: run})
}

// theirs reports whether a process runs the address manager's code.
func (c *Cluster) theirs(id sim.ActorID) bool {
	_, ok := c.upstream[id]
	return ok
}
