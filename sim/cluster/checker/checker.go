// Package checker has the ground truth of a run, that is, the live sandboxes and their addresses,
// and compares it with the record of the address manager after every step. It also samples both:
// metrics, recordings, usage.
package checker

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"ipamsim/model"
	"ipamsim/model/invariant"
	"ipamsim/model/metric"
	"ipamsim/model/route"
	"ipamsim/sim"
	"ipamsim/sim/cluster/recorder"
	"ipamsim/sim/way"
)

// Config describes the cluster to its checker. All functions are called on the root goroutine.
type Config struct {
	World    *sim.World
	Networks []model.Network // the policy, as manifests have it
	Primary  string          // key of the network that every pod gets unasked; "": none
	Settings invariant.Settings
	Fabric   route.Fabric // the network between the nodes
	Site     func(sim.Stack) model.CallSite
	// Observe reads the record. The record is unchanged while Revision is the same.
	Observe  func(context.Context) (model.Snapshot, error)
	Revision func() int64
	Metrics  time.Duration // measure at this interval; 0: never
	Samples  Samples
	Outside  []model.Taken // addresses that belong to neither a pod nor a node
}

// Checker has the ground truth and compares it with the record after every step that
// changed either.
type Checker struct {
	cfg Config
	w   *sim.World

	mu sync.Mutex
	truth
	all       []invariant.Invariant
	revision  int64
	recorded  model.Snapshot // the record at that revision
	ledger    model.Ledger
	past      invariant.Past
	reported  map[string]bool // violations that were, by identity
	found     []model.Violation
	heard     int             // events of the history that were checked
	states    map[uint64]bool // model.State of every instant that was checked
	used      model.Usage
	spins     spins
	late      time.Duration            // when a message of a background process of the manager's last took long
	gaveUp    time.Duration            // see invariant.View.GaveUp
	held      map[string]time.Duration // see invariant.View.Held
	routing   *routing                 // nil: the primary network announces no routes
	series    *metric.Series
	recording *recorder.Recording // nil: none is made
}

// New returns the checker of an empty cluster. The methods named Start… start its processes; the
// cluster's hooks call its hooks.
func New(cfg Config) *Checker {
	c := &Checker{
		cfg: cfg, w: cfg.World, all: invariant.All(),
		reported: map[string]bool{}, states: map[uint64]bool{}, held: map[string]time.Duration{},
	}
	c.truth.init()
	return c
}

// Stepped is for sim.Hooks.Step. It returns the violations that are new.
func (c *Checker) Stepped(s *sim.Step) []model.Violation {
	if s.Choice.Outcome.Fault() {
		c.Record(model.Event{Kind: model.FaultEvent, Actor: string(s.Choice.Op.Actor), Action: faultRef(s.Choice.Outcome), Text: faultText(&s.Choice)})
	}
	c.stepDisturbs(s)
	c.countSpins(s)
	before, changes := len(c.found), len(c.ledger.Changes)
	c.check(invariant.Always, false)
	c.countUndone(s, changes)
	c.frame()
	return c.found[before:]
}

// faultRef is the entry in the history of a fault of one message.
func faultRef(o sim.Outcome) model.ActionRef {
	ref := model.ActionRef{Kind: o.String(), Class: model.InjectedFault, Verb: o.String()}
	if o == sim.Crash {
		ref.Class = model.Crash
	}
	return ref
}

// faultText is "fail-before timeout GET pods/default/web".
func faultText(c *sim.Choice) string {
	if w := way.Named(c); w != "" {
		return c.Outcome.String() + " " + w + " " + c.Op.Key
	}
	return c.Outcome.String() + " " + c.Op.Key
}

// Ended is for sim.Hooks.End: if everything has had its time, it checks what only holds at
// rest. A run that a limit cut short never rested.
func (c *Checker) Ended() {
	c.revision = -1 // the manager's answers are part of its record too, but no step changes them
	c.check(invariant.Always, true)
	c.behind()
	if c.rested {
		c.check(invariant.Quiescent, true)
	}
	c.frame()
	c.mu.Lock()
	c.over = true
	c.mu.Unlock()
}

func (c *Checker) check(phase invariant.Phase, force bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if rev := c.cfg.Revision(); rev != c.revision {
		rec, err := c.cfg.Observe(context.Background())
		if err != nil {
			c.w.Abort(fmt.Errorf("cluster: observe: %w", err))
			return
		}
		rec.At = c.w.Now()
		c.recorded, c.revision = rec, rev
		c.ledger.Note(len(c.w.Trace().Steps), rec)
		c.countFree()
		force = true
	}
	if !force && !c.changed {
		return
	}
	c.changed = false
	c.holdWaiting()
	losses := c.routeLocked()
	c.count()
	v := invariant.View{
		Losses: losses,
		Truth:  c.snapshotLocked(), Record: c.recorded, Networks: c.networksLocked(),
		History: &c.history, Settings: c.cfg.Settings,
		Spins: c.spins.found, Late: c.late, GaveUp: c.gaveUp, Held: c.held, Kept: c.kept,
	}
	c.states[model.State(v.Truth, v.Record)] = true
	v = v.Indexed()
	c.past.Note(v)
	v.Past = &c.past
	for _, inv := range c.all {
		if inv.Phase == phase {
			c.add(inv, inv.Check(v))
		}
	}
	c.heard = len(c.history.Events)
}

// add keeps each violation once, at the step where it was first seen.
func (c *Checker) add(inv invariant.Invariant, found []model.Violation) {
	for _, v := range found {
		v.Invariant, v.Severity = inv.Name, inv.Severity
		slices.SortFunc(v.Objects, model.Ref.Compare)
		key := identity(v)
		if c.reported[key] {
			continue
		}
		c.reported[key] = true
		v.Message = inv.Say(&v)
		v.Step, v.At, v.From, v.To = len(c.w.Trace().Steps), c.w.Now(), c.heard, len(c.history.Events)
		c.found = append(c.found, v)
	}
}

// identity is a key that is equal for equal violations.
func identity(v model.Violation) string {
	key := []byte(v.Invariant)
	for _, o := range v.Objects {
		key = append(append(append(append(key, 0), o.Kind...), ' '), o.Name...)
	}
	return string(key)
}

// countFree lowers, for every ADD under way, the number of addresses that policy
// left free at some time during it.
func (c *Checker) countFree() {
	type where struct{ network, node, pools string }
	free := map[where]int{}
	for _, b := range c.calls {
		if b.Del || b.minFree == 0 {
			continue
		}
		w := where{b.Call.Network, b.Node, strings.Join(b.pools, " ")}
		n, ok := free[w]
		if !ok {
			n = c.free(b.Call.Network, b.Node, b.pools)
			free[w] = n
		}
		b.minFree = min(b.minFree, n)
	}
}

func (c *Checker) free(network, node string, pools []string) int {
	return model.FreeOf(c.networksLocked(), c.recorded, network, node, pools)
}

// networksLocked is the current policy: from the manager's datastore, or from the manifests. Called
// with mu held.
func (c *Checker) networksLocked() []model.Network {
	if n := c.recorded.Networks; n != nil {
		return n
	}
	return c.cfg.Networks
}

// Violations found so far, in the order they appeared.
func (c *Checker) Violations() []model.Violation {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.found)
}

// States are the kinds of situations the run has been in, sorted: see model.State.
func (c *Checker) States() []uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Sorted(maps.Keys(c.states))
}

// History of the run so far. It must not be changed.
func (c *Checker) History() *model.History { return &c.history }

// Ledger is what became of the record so far. It must not be changed.
func (c *Checker) Ledger() *model.Ledger { return &c.ledger }
