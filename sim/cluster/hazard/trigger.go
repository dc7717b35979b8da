package hazard

import (
	"context"
	"slices"
	"sync"
	"time"

	"ipamsim/sim"
	"ipamsim/sim/cluster/action"
)

// trigger waits until a process of the manager has sent a number of messages. A time alone would
// hardly ever be in the middle of a lease that lasts milliseconds; a kind of process, its index and
// a number of messages are.
type trigger struct {
	family  string
	which   int // of the processes of the family that send a message from now on, in that order
	message int // after this one of its messages, counted from now on

	seen  []sim.ActorID
	sent  int
	fired chan sim.ActorID
}

// Bounds of the choices of a trigger: most known failures need one of the first processes and
// messages (strategy stall).
const (
	triggerProcesses = 4
	triggerMessages  = 12
)

// families are the kinds of process that run the manager's code in this cluster.
func (h *hazard) families() []string {
	all := []string{"cni-add", "cni-del"}
	for _, k := range h.Crons {
		all = append(all, k.Reconciler)
	}
	all = append(all, h.c.Config.Daemons...)
	slices.Sort(all)
	return slices.Compact(all)
}

// Process implements action.Draw: it asks for a process and one of its messages, sets the
// trigger, and waits until it fires. id is "" if that did not happen in time.
func (h *hazard) Process(ctx context.Context) (id string, err error) {
	t := &trigger{fired: make(chan sim.ActorID, 1)}
	if t.family, _, err = h.one(ctx, "process", h.families()); err != nil {
		return "", err
	}
	if t.which, err = h.Choose(ctx, "which", triggerProcesses); err != nil {
		return "", err
	}
	if t.message, err = h.Choose(ctx, "message", triggerMessages); err != nil {
		return "", err
	}
	h.triggers.arm(t)
	defer h.triggers.disarm(t)
	late := time.NewTimer(max(0, h.Until-h.c.World.Now()))
	defer late.Stop()
	select {
	case hit := <-t.fired:
		return string(hit), nil
	case <-late.C:
		return "", nil
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

// triggers are the triggers of a run, in the order in which they were set.
type triggers struct {
	w *sim.World

	mu  sync.Mutex
	all []*trigger
}

func (ts *triggers) arm(t *trigger) {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	ts.all = append(ts.all, t)
}

func (ts *triggers) disarm(t *trigger) {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	ts.all = slices.DeleteFunc(ts.all, func(x *trigger) bool { return x == t })
}

// fire notifies the triggers of a step, on the root goroutine, before the next choice is
// made: the hazard acts between this message and the next one of the process.
func (ts *triggers) fire(s *sim.Step) {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	for _, t := range ts.all {
		if t.step(s.Choice.Op.Actor) && ts.w.Alive(s.Choice.Op.Actor) {
			select {
			case t.fired <- s.Choice.Op.Actor:
			default: // it has fired already
			}
		}
	}
}

// step counts a message and reports whether it is the one.
func (t *trigger) step(id sim.ActorID) bool {
	if head, _ := action.Family(string(id)); head != t.family {
		return false
	}
	if !slices.Contains(t.seen, id) {
		t.seen = append(t.seen, id)
	}
	if len(t.seen) <= t.which || t.seen[t.which] != id {
		return false
	}
	t.sent++
	return t.sent == t.message+1
}
