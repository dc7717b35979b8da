// Package hazard has the faults of machines and processes that the schedule may choose.
package hazard

import (
	"context"
	"fmt"
	"slices"
	"time"

	"ipamsim/model"
	"ipamsim/sim"
	"ipamsim/sim/cluster"
	"ipamsim/sim/cluster/action"
	"ipamsim/sim/cluster/cron"
	"ipamsim/sim/cluster/kubeapi"
)

// Hazards are the faults of machines and processes that the schedule may choose, in addition to
// those of single messages (sim.Budget). Each is a separate actor, hazard/1 to hazard/Max, that
// makes at most one fault, and everything about it is a Draw: whether, which kind, when, the
// target, the duration. Answer 0 is always the simplest, and "nothing" the simplest of all: a
// shrinker removes a hazard from a schedule by one number and leaves the others unchanged.
//
// The chosen fault is a model.FaultEvent of the history. A choice without a target (no node is up,
// the process never sent a message) is not recorded, and is no fault.
//
// A hazard ends at Until, so that the cluster at rest has no faults. A node that crashed
// permanently stays down, and a clock that jumped stays wrong.
//
// They implement cluster.Background.
type Hazards struct {
	Max         int       // how many may happen; 0: none
	Kinds       []string  // of Kinds, in the order of the answers
	Crons       cron.Jobs // of the cluster
	From, Until time.Duration
	For         time.Duration // the longest that a node is cut off, a process paused, …
}

// hazardSlots is how many times there are to choose from between From and Until.
// The messages of the hazard can be delayed as well.
const hazardSlots = 16

// lasting are the answers to "for how long": parts of Hazards.For.
var lasting = []time.Duration{64, 16, 4, 1}

// Start starts one process for each.
func (all Hazards) Start(c *cluster.Cluster) {
	if all.Max <= 0 {
		return
	}
	t := &triggers{w: c.World}
	before := t.w.Hooks.Step
	t.w.Hooks.Step = func(s *sim.Step) {
		before(s)
		t.fire(s)
	}
	for i := range all.Max {
		id := fmt.Sprintf("hazard/%d", i+1)
		t.w.Spawn(sim.Process{ID: sim.ActorID(id), Run: func(ctx context.Context, g *sim.Gate) error {
			h := &hazard{Hazards: all, c: c, gate: g, id: id, triggers: t}
			return h.run(ctx)
		}})
	}
}

// hazard is one hazard while it chooses.
type hazard struct {
	Hazards
	c        *cluster.Cluster
	gate     *sim.Gate
	id       string
	triggers *triggers
}

func (h *hazard) run(ctx context.Context) error {
	happens, err := h.Choose(ctx, "hazard", 2)
	if err != nil || happens == 0 {
		return err
	}
	kind, err := h.Choose(ctx, "kind", len(h.Kinds))
	if err != nil {
		return err
	}
	slot, err := h.Choose(ctx, "when", hazardSlots)
	if err != nil {
		return err
	}
	at := h.From + (h.Until-h.From)/hazardSlots*time.Duration(slot)
	if d := at - h.c.World.Now(); d > 0 && !kubeapi.Sleep(ctx, d) {
		return ctx.Err()
	}
	e, err := kinds[h.Kinds[kind]].Plan(ctx, h)
	if err != nil || e.Action == nil || h.c.World.Now() >= h.Until {
		return err
	}
	return h.happen(ctx, e)
}

func (h *hazard) happen(ctx context.Context, e action.Planned) error {
	h.c.Checker.Record(model.Event{Kind: model.FaultEvent, Actor: h.id, Action: action.Ref(e.Action), Text: e.String()})
	o := &cluster.Operator{Cluster: h.c, Client: h.c.Client(h.gate), Gate: h.gate, ID: h.id}
	err := e.Do(ctx, o)
	if err == nil && e.Undo != nil && kubeapi.Sleep(ctx, e.After) {
		err = e.Undo.Do(ctx, o)
	}
	if err != nil && ctx.Err() == nil {
		h.c.Checker.Record(model.Event{Kind: model.Operator, Actor: h.id, Action: action.Ref(e.Action), Text: e.String(), Err: err.Error()})
	}
	return err
}

// Choose implements action.Draw.
func (h *hazard) Choose(ctx context.Context, what string, n int) (int, error) {
	if n <= 1 {
		return 0, nil
	}
	return h.gate.Draw(ctx, what, n)
}

// Duration implements action.Draw.
func (h *hazard) Duration(ctx context.Context) (time.Duration, error) {
	i, err := h.Choose(ctx, "for", len(lasting))
	return h.For / lasting[i], err
}

// Clip implements action.Draw: every fault ends at Until.
func (h *hazard) Clip(d time.Duration) time.Duration {
	return max(1, min(d, h.Until-h.c.World.Now()))
}

// Node implements action.Draw.
func (h *hazard) Node(ctx context.Context) (name string, ok bool, err error) {
	return h.one(ctx, "node", slices.DeleteFunc(h.c.Nodes(), func(n string) bool { return !h.c.Up(n) }))
}

// Passes implements action.Draw.
func (h *hazard) Passes() (all []*action.Reconcile) {
	for _, k := range h.Crons {
		if len(k.Nodes) == 0 {
			all = append(all, &action.Reconcile{Name: k.Reconciler})
		}
		for _, n := range k.Nodes {
			if h.c.Up(n) {
				all = append(all, &action.Reconcile{Name: k.Reconciler, Node: n})
			}
		}
	}
	return all
}

// Cluster implements action.Draw.
func (h *hazard) Cluster() *cluster.Cluster { return h.c }

// one asks the schedule for one of several elements; ok is false if there is none.
func (h *hazard) one(ctx context.Context, what string, of []string) (x string, ok bool, err error) {
	if len(of) == 0 {
		return "", false, nil
	}
	i, err := h.Choose(ctx, what, len(of))
	return of[i], err == nil, err
}
