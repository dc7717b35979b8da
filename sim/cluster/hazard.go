package cluster

import (
	"context"
	"fmt"
	"slices"
	"time"

	"ipamsim/model"
	"ipamsim/sim"
	"ipamsim/sim/cluster/kubeapi"
)

// Hazards are the faults of machines and processes that the schedule may choose,
// beside those of single messages (sim.Budget). Each is an actor of its own,
// hazard/1 to hazard/Max, that does one thing or nothing, and everything about
// it is a Draw: whether, which kind, when, to whom, for how long. Answer 0 is
// always the plainest, and "nothing" the plainest of all: a shrinker takes a
// hazard out of a schedule by one number and leaves the others as they are.
//
// What was chosen is a model.FaultEvent of the history. A choice that meets
// nobody (no node is up, the process never came) is not, and is no fault.
//
// A hazard is over at Until: what rests is not hurt. A node that was crashed for
// good stays down, a clock that jumped stays wrong.
type Hazards struct {
	Max         int      // how many may happen; 0: none
	Kinds       []string // of HazardKinds, in the order of the answers
	From, Until time.Duration
	For         time.Duration // the longest that a node is cut off, a process paused, …
}

// hazardSlots is how many times there are to choose from between From and Until.
// The messages of the hazard can be delayed besides.
const hazardSlots = 16

// lasting are the answers to "for how long": parts of Hazards.For.
var lasting = []time.Duration{64, 16, 4, 1}

func (h Hazards) has(kind string) bool { return h.Max > 0 && slices.Contains(h.Kinds, kind) }

func (c *Cluster) startHazards() {
	for i := range c.cfg.Hazards.Max {
		id := fmt.Sprintf("hazard/%d", i+1)
		c.w.Spawn(sim.Process{ID: sim.ActorID(id), Run: func(ctx context.Context, g *sim.Gate) error {
			h := &hazard{Hazards: c.cfg.Hazards, c: c, gate: g, id: id}
			return h.run(ctx)
		}})
	}
}

// hazard is one of them while it makes up its mind.
type hazard struct {
	Hazards
	c    *Cluster
	gate *sim.Gate
	id   string
}

// event is what a hazard has settled on: something happens, and after a while
// something else puts an end to it, unless the action does so itself.
type event struct {
	Action
	after time.Duration
	undo  Action // nil: it stays so, or ends by itself
}

func (h *hazard) run(ctx context.Context) error {
	happens, err := h.draw(ctx, "hazard", 2)
	if err != nil || happens == 0 {
		return err
	}
	kind, err := h.draw(ctx, "kind", len(h.Kinds))
	if err != nil {
		return err
	}
	slot, err := h.draw(ctx, "when", hazardSlots)
	if err != nil {
		return err
	}
	at := h.From + (h.Until-h.From)/hazardSlots*time.Duration(slot)
	if d := at - h.c.w.Now(); d > 0 && !kubeapi.Sleep(ctx, d) {
		return ctx.Err()
	}
	e, err := hazardKinds[h.Kinds[kind]].plan(ctx, h)
	if err != nil || e.Action == nil || h.c.w.Now() >= h.Until {
		return err
	}
	return h.happen(ctx, e)
}

func (h *hazard) happen(ctx context.Context, e event) error {
	h.c.record(model.Event{Kind: model.FaultEvent, Actor: h.id, Deed: deed(e), Text: e.String()})
	o := &Operator{c: h.c, client: kubeapi.New(h.c.api.Door(h.gate)), gate: h.gate, id: h.id}
	err := e.Do(ctx, o)
	if err == nil && e.undo != nil && kubeapi.Sleep(ctx, e.after) {
		err = e.undo.Do(ctx, o)
	}
	if err != nil && ctx.Err() == nil {
		h.c.record(model.Event{Kind: model.Operator, Actor: h.id, Deed: deed(e), Text: e.String(), Err: err.Error()})
	}
	return err
}

// draw asks the schedule for one of n answers; a question with one answer is not
// asked.
func (h *hazard) draw(ctx context.Context, what string, n int) (int, error) {
	if n <= 1 {
		return 0, nil
	}
	return h.gate.Draw(ctx, what, n)
}

// duration asks for how long. Whatever the answer, it is over at Until.
func (h *hazard) duration(ctx context.Context) (time.Duration, error) {
	i, err := h.draw(ctx, "for", len(lasting))
	return h.For / lasting[i], err
}

// clip shortens what begins now so that it is over in time.
func (h *hazard) clip(d time.Duration) time.Duration { return max(1, min(d, h.Until-h.c.w.Now())) }

// one asks which of several; ok is false if there is none.
func one[T any](ctx context.Context, h *hazard, what string, of []T) (x T, ok bool, err error) {
	if len(of) == 0 {
		return x, false, nil
	}
	i, err := h.draw(ctx, what, len(of))
	return of[i], err == nil, err
}

// node asks which of the nodes that are up.
func (h *hazard) node(ctx context.Context) (name string, ok bool, err error) {
	return one(ctx, h, "node", slices.DeleteFunc(h.c.nodeNames(), func(n string) bool { return !h.c.nodeUp(n) }))
}
