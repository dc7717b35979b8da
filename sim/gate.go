package sim

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"time"

	"ipamsim/sim/hermetic"
)

// ErrKilled is what every message of a killed process returns.
var ErrKilled = errors.New("sim: process killed")

// Fault is the error of Pass for a message for which the schedule chose a fault. The caller of Pass
// converts it to an error of its protocol.
type Fault struct {
	Outcome Outcome
	Level   int   // index in Op.Fails or Op.Loses, for FailBefore and LoseReply
	Err     error // what do returned, for LoseReply
}

func (f *Fault) Error() string { return fmt.Sprintf("sim: injected %s", f.Outcome) }

// Gate is an actor's only way out.
type Gate struct {
	w *World
	a *Actor
}

// Actor is the process this gate belongs to.
func (g *Gate) Actor() ActorID { return g.a.ID }

// Ended is closed when the process has ended: a server that it has a connection to sees
// that.
func (g *Gate) Ended() <-chan struct{} { return g.a.done }

// Reached reports whether a message to the process would arrive now: the process runs, and is
// neither paused nor partitioned.
func (g *Gate) Reached() bool {
	g.w.mu.Lock()
	defer g.w.mu.Unlock()
	return !g.a.ended() && !g.w.stays(g.a, &Op{Kind: Event})
}

// World is the run this gate belongs to.
func (g *Gate) World() *World { return g.w }

type parked struct {
	op      Op
	actor   *Actor
	stack   Stack
	due     time.Duration
	delayed bool
	verdict chan verdict
}

type verdict struct {
	outcome Outcome
	level   int
	step    *Step
}

// Pass parks the message until the schedule releases it, then runs do, which must deliver it.
// Pass sets Op.Actor, Op.Incarnation, Op.Seq and Op.Sent.
//
// It returns the result of do; a *Fault if the schedule hurt the message; ErrKilled if the
// process died in the meantime, in which case the message never left unless do was already
// running; ctx.Err() if the caller gave up while the message was parked, in which case it
// never left either.
func (g *Gate) Pass(ctx context.Context, op Op, do func(context.Context) error) error {
	p, err := g.park(ctx, op)
	if err != nil {
		return err
	}
	if g.w.opts.Ungated {
		return g.pass(ctx, p, do)
	}
	v, late, err := g.wait(ctx, p)
	if err != nil {
		return err
	}
	// Death comes before all else, whichever case select took: killing a process
	// ends its context and may hit a message that has just been picked.
	if g.a.ended() {
		return ErrKilled
	}
	defer hermetic.SetProcess(hermetic.SetProcess(nil)) // a server has neither the clock nor the crash handling of its client
	if late {
		ctx = context.WithoutCancel(ctx) // the message was sent before the deadline was checked
	}
	ctx = context.WithValue(ctx, stepKey{}, v.step)
	if op.Draws > 0 {
		ctx = context.WithValue(ctx, drawKey{}, v.level)
	}
	switch v.outcome {
	case Proceed:
		return do(ctx)
	case Stale:
		return do(context.WithValue(ctx, staleKey{}, true))
	case LoseReply:
		return &Fault{Outcome: LoseReply, Level: v.level, Err: do(ctx)}
	default:
		Report(ctx, v.outcome.String(), nil)
		return &Fault{Outcome: v.outcome, Level: v.level}
	}
}

// wait waits for the verdict of the schedule on a parked message. late is true if the verdict came
// after the end of the caller's context. The error is that of the context if the message was
// withdrawn.
//
// A paused process does not notice that its deadline has passed. When it resumes, the message that
// it was about to send may go before it reads the clock: a leader whose lease has expired writes
// once more.
func (g *Gate) wait(ctx context.Context, p *parked) (v verdict, late bool, err error) {
	select {
	case v = <-p.verdict:
		return v, false, nil
	case <-g.a.done:
		return v, false, nil
	case <-ctx.Done():
	}
	if awake := g.w.asleep(g.a); awake != nil {
		select {
		case <-awake:
		case <-g.a.done:
			return v, false, nil
		}
		t := time.NewTimer(wakingMax)
		defer t.Stop()
		select {
		case v = <-p.verdict:
			return v, true, nil
		case <-g.a.done:
			return v, false, nil
		case <-t.C:
		}
	}
	if g.w.withdraw(p) {
		if f := g.w.Hooks.Withdrawn; f != nil {
			f(p.op)
		}
		return v, false, ctx.Err()
	}
	if !g.a.ended() {
		v = <-p.verdict // the schedule was faster
	}
	return v, false, nil
}

// wakingMax is the time that a resumed process may take to notice which of its deadlines have
// passed: the scheduling of its threads.
const wakingMax = time.Millisecond

func (g *Gate) park(ctx context.Context, op Op) (*parked, error) {
	if err := ctx.Err(); err != nil && !g.a.ended() {
		return nil, err
	}
	if op.Class == "" {
		op.Class = "api"
	}
	if op.Key == "" && op.Request != nil {
		op.Key = op.Request.String()
	}
	if g.a.Mortal {
		op.Faults |= Of(Crash)
	}
	var pcs [stackMax]uintptr
	depth := 0
	if op.Kind != Event && op.Kind != Local && !g.w.opts.Stackless { // a server sends an Event, and a Local has no sender
		depth = called(ctx, pcs[:], callers(&pcs[0], len(pcs)))
	}
	w := g.w
	w.mu.Lock()
	defer w.mu.Unlock()
	if g.a.ended() {
		if g.a.late++; g.a.late > lateMax {
			runtime.Goexit()
		}
		return nil, ErrKilled
	}
	g.a.seq++
	op.Actor, op.Incarnation, op.Seq, op.Sent = g.a.ID, g.a.incarnation, g.a.seq, w.Now()
	p := &parked{op: op, actor: g.a, stack: w.stacks.of(pcs[:depth]), due: op.Sent + w.opts.Service[op.Class], verdict: make(chan verdict, 1)}
	if !w.opts.Ungated {
		i, _ := w.search(op)
		w.parked = slices.Insert(w.parked, i, p)
		w.Progress() // its sender now waits, and only a decision of the schedule lets it go
		w.signal()
	}
	return p, nil
}

// lateMax is how many messages a dead process may try before its goroutines that still try are
// ended: upstream loops that retry immediately would spin forever, and virtual time with them.
const lateMax = 100

// search finds the place of a message among the parked ones, which are sorted by
// actor and number. The caller holds mu.
func (w *World) search(op Op) (int, bool) {
	return slices.BinarySearchFunc(w.parked, op, func(p *parked, op Op) int {
		return cmp.Or(cmp.Compare(p.op.Actor, op.Actor), cmp.Compare(p.op.Seq, op.Seq))
	})
}

// withdraw takes a message back. It reports false when the schedule has picked it
// or the process is dead.
func (w *World) withdraw(p *parked) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	i := slices.Index(w.parked, p)
	if i < 0 {
		return false
	}
	w.parked = slices.Delete(w.parked, i, i+1)
	w.signal()
	return true
}

// Draw lets the schedule choose one of n answers, 0 ≤ answer < n: the only way
// for an actor to do something at random.
func (g *Gate) Draw(ctx context.Context, what string, n int) (answer int, err error) {
	err = g.Pass(ctx, Op{Kind: Local, Class: "draw", Key: "DRAW " + what, Draws: n, Request: &Request{Verb: "DRAW", Resource: what}}, func(ctx context.Context) error {
		answer = Drawn(ctx)
		Report(ctx, strconv.Itoa(answer), nil)
		return nil
	})
	return answer, err
}

type drawKey struct{}

// Drawn is the answer that the schedule chose for a message with Op.Draws. The do function of its
// Pass calls it.
func Drawn(ctx context.Context) int {
	n, _ := ctx.Value(drawKey{}).(int)
	return n
}

type staleKey struct{}

// IsStale reports whether the schedule wants this read served from an older
// revision.
func IsStale(ctx context.Context) bool { return ctx.Value(staleKey{}) != nil }
