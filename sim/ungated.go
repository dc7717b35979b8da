package sim

import (
	"context"
	"runtime"
	"time"

	"ipamsim/sim/hermetic"
)

// Ungater is a Strategy that may ask for Options.Ungated.
type Ungater interface{ Ungated() bool }

// pass delivers a message without parking it. The strategy decides how long it takes, as the size
// of a Delay; the runtime decides the order of messages that are ready at the same time. There are
// no faults, and the schedule does not replay the run.
func (g *Gate) pass(ctx context.Context, p *parked, do func(context.Context) error) error {
	w, op := g.w, p.op
	w.mu.Lock()
	took := Ladder[w.choose([]Choice{{Op: op, Outcome: Delay}}).Level]
	w.mu.Unlock()
	time.Sleep(max(took, w.opts.Service[op.Class]))
	runtime.Gosched()
	for w.isStopped(g.a, &p.op) && !g.a.ended() && ctx.Err() == nil {
		time.Sleep(heldPoll)
	}
	w.mu.Lock()
	if g.a.ended() {
		w.mu.Unlock()
		return ErrKilled
	}
	if err := ctx.Err(); err != nil {
		w.mu.Unlock()
		return err
	}
	c := w.choose([]Choice{{Op: op, Outcome: Proceed, Due: w.Now()}})
	s := w.trace.add()
	s.Stack = p.stack
	w.mu.Unlock()
	ctx = context.WithValue(ctx, stepKey{}, s)
	if op.Draws > 0 {
		ctx = context.WithValue(ctx, drawKey{}, c.Level)
	}
	back := hermetic.SetProcess(nil) // a server has neither the clock nor the crash handling of its client
	err := do(ctx)
	hermetic.SetProcess(back)
	w.signal()
	if g.a.ended() {
		return ErrKilled
	}
	return err
}

// heldPoll is how often a process that is paused or cut off looks whether it may
// go on, where no gate holds it.
const heldPoll = 10 * time.Millisecond

func (w *World) isStopped(a *Actor, op *Op) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.stays(a, op)
}

// reportSteps reports the messages that were delivered outside the loop.
func (w *World) reportSteps() {
	for w.reported < len(w.trace.Steps) {
		w.reported++
		w.report(w.trace.Steps[w.reported-1])
	}
}
