package cluster

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"ipamsim/model"
	"ipamsim/model/act"
	"ipamsim/model/invariant"
	"ipamsim/sim"
	"ipamsim/sim/disk"
	"ipamsim/sim/ipam"
	"ipamsim/sim/kube"
)

// judge compares truth and record after every step that changed either.
type judge struct {
	all      []invariant.Invariant
	networks []model.Network
	settings invariant.Settings
	revision int64
	record   model.Snapshot
	ledger   model.Ledger
	past     invariant.Past
	seen     map[string]bool
	found    []model.Violation
	heard    int             // events of the history that were judged
	states   map[uint64]bool // model.State of every instant that was judged
	used     Used
	site     func(sim.Stack) model.CallSite
	spins    spins
	late     time.Duration            // when a message of a background process of the manager's last took long
	held     map[string]time.Duration // see invariant.View.Held
}

func (j *judge) init(cfg Config) {
	j.all, j.settings = invariant.All(), cfg.Settings
	j.site = ipam.CallSites(cfg.Manager)
	j.seen, j.states, j.held = map[string]bool{}, map[uint64]bool{}, map[string]time.Duration{}
	for _, n := range cfg.Networks {
		j.networks = append(j.networks, n.Network)
	}
}

// stepped is sim.Hooks.Step.
func (c *Cluster) stepped(s *sim.Step) {
	if s.Choice.Outcome.Fault() {
		c.record(model.Event{Kind: model.FaultEvent, Actor: string(s.Choice.Op.Actor), Deed: s.Choice.Outcome.String(), Text: s.Choice.Outcome.String() + " " + s.Choice.Op.Key})
	}
	if _, ok := s.Detail.(disk.Access); ok { // a record on a disk has no revision
		c.judge.revision = -1
	}
	c.stepDisturbs(s)
	c.spins(s)
	before := len(c.judge.found)
	c.judgeNow(invariant.Always, false)
	c.filmed()
	if stop := c.cfg.Stop; stop != nil && stop(s, c.judge.found[before:]) {
		c.w.Finish()
	}
	c.springs(s)
}

// ended is sim.Hooks.End: if everything has had its time, judge what only holds at
// rest. A run that a limit cut short never rested.
func (c *Cluster) ended() {
	c.judgeNow(invariant.Always, true)
	c.behind()
	if c.rested {
		c.judgeNow(invariant.Quiescent, true)
	}
	c.filmed()
	c.mu.Lock()
	c.over = true
	c.mu.Unlock()
}

func (c *Cluster) judgeNow(phase invariant.Phase, force bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if rev := c.store.Revision(); rev != c.judge.revision {
		rec, err := c.inst.Observe(context.Background())
		if err != nil {
			c.w.Abort(fmt.Errorf("cluster: observe: %w", err))
			return
		}
		rec.At = c.w.Now()
		c.judge.record, c.judge.revision = rec, rev
		c.judge.ledger.Note(len(c.w.Trace().Steps), rec)
		c.countFree()
		force = true
	}
	if !force && !c.truth.changed {
		return
	}
	c.truth.changed = false
	c.holdWaiting()
	losses := c.routeLocked()
	c.judge.used.count(c)
	v := invariant.View{
		Losses: losses,
		Truth:  c.snapshotLocked(), Record: c.judge.record, Networks: c.networksLocked(),
		History: &c.truth.history, Settings: c.judge.settings,
		Spins: c.judge.spins.found, Late: c.judge.late, Held: c.judge.held,
	}
	c.judge.states[model.State(v.Truth, v.Record)] = true
	v = v.Indexed()
	c.judge.past.Note(v)
	v.Past = &c.judge.past
	for _, inv := range c.judge.all {
		if inv.Phase == phase {
			c.judge.add(inv, inv.Check(v), c.w, len(v.History.Events))
		}
	}
	c.judge.heard = len(c.truth.history.Events)
}

// add keeps each violation once, at the step where it was first seen, with the
// history so many events long.
func (j *judge) add(inv invariant.Invariant, found []model.Violation, w *sim.World, events int) {
	for _, v := range found {
		v.Invariant, v.Severity = inv.Name, inv.Severity
		slices.SortFunc(v.Objects, model.Ref.Compare)
		key := identity(v)
		if j.seen[key] {
			continue
		}
		j.seen[key] = true
		v.Message = inv.Say(&v)
		v.Step, v.At, v.From, v.To = len(w.Trace().Steps), w.Now(), j.heard, events
		j.found = append(j.found, v)
	}
}

// identity is what makes a violation the same one as another.
func identity(v model.Violation) string {
	key := []byte(v.Invariant)
	for _, o := range v.Objects {
		key = append(append(append(append(key, 0), o.Kind...), ' '), o.Name...)
	}
	return string(key)
}

// countFree lowers, for every ADD under way, the number of addresses that policy
// left free at some time during it.
func (c *Cluster) countFree() {
	type where struct{ network, node string }
	free := map[where]int{}
	for _, b := range c.truth.busy {
		if b.Del || b.minFree == 0 {
			continue
		}
		w := where{b.call.Network, b.Node}
		n, ok := free[w]
		if !ok {
			n = c.free(b.call.Network, b.Node)
			free[w] = n
		}
		b.minFree = min(b.minFree, n)
	}
}

func (c *Cluster) free(network, node string) int {
	return model.Free(c.networksLocked(), c.judge.record, network, node)
}

// networksLocked is the policy now: as the manager's datastore has it, or as the
// manifests had it. Called with mu held.
func (c *Cluster) networksLocked() []model.Network {
	if n := c.judge.record.Networks; n != nil {
		return n
	}
	return c.judge.networks
}

// panicked is sim.Hooks.Panic. A panic of the address manager is a finding; one
// of our own processes is ours, and so is one of our own code that the address
// manager has called: a server, a door, the kernel.
func (c *Cluster) panicked(id sim.ActorID, value any, stack string) {
	in := model.CrashedIn(stack)
	ours := strings.HasPrefix(in, "ipamsim/") && !ipam.Theirs(c.cfg.Manager, in)
	if ours || !c.theirs(id) {
		c.w.Abort(fmt.Errorf("cluster: %s panicked: %v\n%s", id, value, stack))
		return
	}
	c.record(model.Event{Kind: model.ActorPanic, Actor: string(id), Err: fmt.Sprint(value), Text: stack})
}

// Violations found so far, in the order they appeared.
func (c *Cluster) Violations() []model.Violation {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.judge.found)
}

// States are the kinds of situations the run has been in, sorted: see model.State.
func (c *Cluster) States() []uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Sorted(maps.Keys(c.judge.states))
}

// History of the run so far. It must not be changed.
func (c *Cluster) History() *model.History { return &c.truth.history }

// Ledger is what became of the record so far. It must not be changed.
func (c *Cluster) Ledger() *model.Ledger { return &c.judge.ledger }

// Act says what a step did, as ipam.Instance does.
func (c *Cluster) Act(detail any) act.Act { return c.inst.Act(detail) }

// Calls is how many requests reached the API server.
func (c *Cluster) Calls() int {
	n := 0
	for _, s := range c.w.Trace().Steps {
		if _, ok := s.Detail.(kube.Exchange); ok {
			n++
		}
	}
	return n
}
