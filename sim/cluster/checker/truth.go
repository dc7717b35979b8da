package checker

import (
	"net/netip"
	"slices"

	"ipamsim/model"
	"ipamsim/sim"
	"ipamsim/sim/cluster/recorder"
)

// truth is the actual state of the cluster, whatever a datastore says. Guarded by Checker.mu.
type truth struct {
	machines  map[string]*recorder.Machine
	sandboxes map[string]*model.Sandbox    // by container id
	pods      map[model.PodRef]model.Pod   // those that are stored
	kept      map[string]string            // container runtimes have on record, by container id, with their nodes
	calls     map[string]*Call             // under way, by container id
	others    map[model.Ref][]netip.Prefix // what else has addresses of the primary network: see Takes
	upstream  map[sim.ActorID]string       // processes that run the address manager's code, and on which node
	history   model.History
	changed   bool // since it was checked last
	cache     cache
	rested    bool // the quiet time after the script is over
	over      bool // the run has been checked
	touched   []model.Touch
}

func (t *truth) init() {
	t.machines = map[string]*recorder.Machine{}
	t.sandboxes = map[string]*model.Sandbox{}
	t.kept = map[string]string{}
	t.pods = map[model.PodRef]model.Pod{}
	t.calls = map[string]*Call{}
	t.others = map[model.Ref][]netip.Prefix{}
	t.upstream = map[sim.ActorID]string{}
}

// Record appends an event to the history and stamps it.
func (c *Checker) Record(e model.Event) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.recordLocked(e)
}

func (c *Checker) recordLocked(e model.Event) {
	if c.over {
		return // killed processes still unwind; their events are dropped
	}
	e.Step, e.At = len(c.w.Trace().Steps), c.w.Now()
	c.history.Add(e)
	c.changed = true
}

// Spawned takes note of a process that runs the address manager's own code.
func (c *Checker) Spawned(id sim.ActorID, node string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.upstream[id] = node
}

// Theirs reports whether a process runs the address manager's code.
func (c *Checker) Theirs(id sim.ActorID) bool {
	_, ok := c.upstream[id]
	return ok
}

// Rested records that the cluster has had its quiet time: invariants that hold only at rest may be
// checked at the end.
func (c *Checker) Rested() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.rested = true
}

// PodChanged records the new state of a stored pod; nil if the pod is no longer stored.
func (c *Checker) PodChanged(key model.PodRef, now *model.Pod) {
	c.mu.Lock()
	defer c.mu.Unlock()
	old, stored := c.pods[key]
	if now == nil {
		delete(c.pods, key)
	} else {
		p := *now
		p.Since = c.w.Now()
		if stored && old.UID == p.UID && old.Node == p.Node {
			p.Since = old.Since
		}
		c.pods[key] = p
	}
	if is, still := c.pods[key]; stored != still || !samePod(&old, &is) {
		c.touchLocked(model.PodOf(key))
	}
	c.cache.podsChanged()
	c.changed = true
}

func samePod(a, b *model.Pod) bool {
	return a.UID == b.UID && a.Node == b.Node && a.Phase == b.Phase && a.Deleting == b.Deleting && slices.Equal(a.Networks, b.Networks)
}

func (c *Checker) touchLocked(what model.Ref) {
	if t := (model.Touch{Step: len(c.w.Trace().Steps), Ref: what}); !c.over && (len(c.touched) == 0 || c.touched[len(c.touched)-1] != t) {
		c.touched = append(c.touched, t)
	}
}

// Touched are the changes of the truth, by step, in addition to the history's events.
func (c *Checker) Touched() []model.Touch { return c.touched }

// snapshotLocked is the ground truth, sorted. Called with mu held.
func (c *Checker) snapshotLocked() model.Truth {
	t := model.Truth{
		At: c.w.Now(), Busy: make(map[string]model.Busy, len(c.calls)),
		Nodes: make(map[string]model.Node, len(c.machines)), Sandboxes: c.sortedSandboxes(), Pods: c.storedPods(),
	}
	for id, b := range c.calls {
		t.Busy[id] = b.Busy
	}
	for name, n := range c.machines {
		t.Nodes[name] = n.Node
	}
	t.Taken = c.taken()
	return t
}
