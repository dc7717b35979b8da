package sim

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"ipamsim/sim/hermetic"
)

// Epoch is the virtual time at which every run starts (synctest's own).
var Epoch = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// Run builds a world in a new bubble and schedules it until setup's actors call
// Finish, a limit is reached or ctx ends. Setup runs on the bubble's root
// goroutine before the first step; messages it sends need no gate.
//
// The trace is never nil. The error is nil for a run that finished; it wraps
// ErrSteps, ErrVirtual or ErrInterrupted for one that was cut short; *Stuck if
// nothing moved for Limits.Stuck, after which the process should end, because
// the bubble cannot be unwound; anything else is a defect of the harness.
// The trace of a bubble that had to be given up, stuck or deaf to ctx, is empty.
func Run(ctx context.Context, o Options, setup func(*World) error) (*Trace, error) {
	o.Limits = o.Limits.orDefault()
	if u, ok := o.Strategy.(Ungater); ok {
		o.Ungated = o.Ungated || u.Ungated()
	}
	r := &running{trace: &Trace{}}
	stopped := context.AfterFunc(ctx, func() { r.over.Store(true) })
	defer stopped()
	done := make(chan error, 1)
	go func() { done <- r.bubble(o, setup) }()
	dog := newWatchdog(o.Limits.Stuck)
	tick := time.NewTicker(dog.period)
	defer tick.Stop()
	asked, patience := ctx.Done(), (<-chan time.Time)(nil)
	for {
		select {
		case err := <-done:
			return r.trace, err
		case <-asked:
			asked, patience = nil, time.After(patienceMax)
		case <-patience:
			return &Trace{}, ErrInterrupted
		case <-tick.C:
			if dog.tick(r.beat.Load()) {
				r.over.Store(true) // should it come loose
				return &Trace{}, diagnose(o.Limits.Stuck, r.id.Load())
			}
		}
	}
}

// patienceMax is the time that an interrupted bubble gets to unwind before it is abandoned: after
// Ctrl-C a user waits for a second, not for Limits.Stuck.
const patienceMax = 700 * time.Millisecond

// running is the state that the inside and the outside of the bubble share. It is plain memory,
// because a channel of one side cannot be used on the other.
type running struct {
	trace *Trace
	beat  atomic.Uint64
	over  atomic.Bool
	id    atomic.Int64 // which bubble, as goroutine stacks number them
}

// bubble runs the world in a bubble of an ordinary binary: a zero testing.T is
// enough for synctest, as long as no panic of f reaches it.
func (r *running) bubble(o Options, setup func(*World) error) (err error) {
	defer func() {
		if v := recover(); v != nil { // synctest's own: goroutines left behind
			err = errors.Join(err, fmt.Errorf("sim: goroutines were left behind at the end of the run: %v", v))
		}
	}()
	hermetic.SetSeed(o.Seed)
	err = errors.New("sim: the harness left by runtime.Goexit")
	synctest.Test(new(testing.T), func(*testing.T) {
		done := make(chan struct{})
		go func() { // in its own goroutine: the zero T does not survive the Goexit that t.FailNow in setup causes
			defer close(done)
			err = r.root(o, setup)
		}()
		<-done
	})
	return err
}

func (r *running) root(o Options, setup func(*World) error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("sim: the harness panicked: %v\n%s", v, debug.Stack())
		}
	}()
	r.id.Store(bubbleID())
	w := &World{
		opts: o, start: time.Now(), trace: r.trace,
		actors: map[ActorID]*Actor{}, incarnations: map[ActorID]int{}, held: map[string]int{}, paused: map[string]*pause{}, stacks: stacks{},
		wake: make(chan struct{}, 1),
		over: &r.over, beat: &r.beat,
	}
	defer w.close()
	if err := setup(w); err != nil {
		return err
	}
	err = w.loop()
	if w.Hooks.End != nil {
		w.Progress()
		w.Hooks.End()
		w.Progress()
	}
	if errors.Is(err, errFinished) {
		return nil
	}
	return err
}
