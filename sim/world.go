package sim

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing/synctest"
	"time"

	"ipamsim/sim/hermetic"
)

// Options configure a run. The zero value of every field but Strategy is usable.
type Options struct {
	Seed     uint64
	Strategy Strategy
	Limits   Limits
	Faults   Budget
	// Service is the least virtual time a message takes, by Op.Class: a fact of
	// the world (pulling an image takes seconds) that no schedule can undercut.
	Service map[string]time.Duration
	// Ungated lets messages pass as they come: no gate, no schedule, no replay. What
	// it finds beyond the gate's reach are races between goroutines of one process.
	// A Strategy that is an Ungater sets it.
	Ungated bool
	// Stackless leaves Step.Stack nil, to measure the cost of stacks.
	Stackless bool
	// Instant rounds the passage of time up to the next multiple of it. So messages that timers
	// send within one interval are parked at one instant, and their order is a choice. 0: time
	// passes until the first message, and timers a nanosecond apart are never parked together.
	Instant time.Duration
}

// Limits end a run that would not end by itself. Zero means the default.
type Limits struct {
	Steps   int           // messages delivered or hurt; default 200,000
	Virtual time.Duration // virtual time; default 24 h
	Stuck   time.Duration // processor time, or idle time, without any progress (see watchdog); default 30 s
	Details int           // bytes that the Details of the trace keep, older ones are shortened; default 256 MiB
}

// Budget bounds the faults of a run.
type Budget struct {
	Allowed FaultSet      // outcomes the schedule may choose
	Max     int           // how many of them
	Until   time.Duration // none from this virtual time on; 0: always
	Ways    Ways          // of FailBefore and LoseReply only these; empty: all
	Only    []string      // only messages whose Op.String, with or without "#number", contains one of these; empty: all
}

func (l Limits) orDefault() Limits {
	if l.Steps == 0 {
		l.Steps = 200_000
	}
	if l.Virtual == 0 {
		l.Virtual = 24 * time.Hour
	}
	if l.Stuck == 0 {
		l.Stuck = 30 * time.Second
	}
	if l.Details == 0 {
		l.Details = detailsMax
	}
	return l
}

// Errors that end a run early. A run that ends with one of them proves nothing.
var (
	ErrSteps       = errors.New("step limit reached")
	ErrVirtual     = errors.New("virtual-time limit reached")
	ErrInterrupted = errors.New("interrupted")
)

// Hooks connect the kernel to the simulated system. They run on the root goroutine of the bubble
// and never pass the gate.
type Hooks struct {
	// Settle moves what servers owe to clients (watch events) and reports
	// whether it moved anything. It is called after every step until it rests.
	Settle func() bool
	// Step is called once the bubble is quiet after a step. It may kill and spawn.
	Step func(*Step)
	// Panic is called for a process that ended by a panic of one of its goroutines, when all
	// goroutines of the bubble are blocked.
	Panic func(id ActorID, value any, stack string)
	// Withdrawn is called for a message that its sender withdrew after waiting long enough, on
	// the sender's goroutine. It may be nil.
	Withdrawn func(Op)
	// End is called when the run is over, before the actors are killed.
	End func()
}

// World is one run: the bubble's actors, their parked messages and the schedule.
// Its methods are for code inside the bubble.
type World struct {
	Hooks Hooks

	opts  Options
	start time.Time
	trace *Trace

	mu           sync.Mutex
	actors       map[ActorID]*Actor
	incarnations map[ActorID]int // how many processes had each name
	parked       []*parked
	stacks       stacks
	held         map[string]int // groups and actors that are cut off
	paused       map[string]*pause
	wake         chan struct{}
	closed       bool       // the run is over
	panics       []panicked // not yet reported to Hooks.Panic
	done         error      // why the loop stops; errFinished when all is well
	faults       int
	moves        int          // decisions of any kind
	reported     int          // steps that Hooks.Step has seen, if Ungated
	over         *atomic.Bool // set from outside the bubble
	beat         *atomic.Uint64
	buf          []Choice
	level        []Choice

	cleanups []func()
}

var errFinished = errors.New("finished")

// Cleanup calls f at the end of the run, after the actors were killed; last
// registered first.
func (w *World) Cleanup(f func()) { w.cleanups = append(w.cleanups, f) }

// Now is the virtual time since the start of the run, independent of the clock of the caller's
// machine.
func (w *World) Now() time.Duration {
	defer hermetic.SetProcess(hermetic.SetProcess(nil))
	return time.Since(w.start)
}

// Progress reports to the watchdog that a bounded amount of work is done, before the first
// message or after the last: for example, each object of a large cluster that is stored. In
// between, messages report it.
func (w *World) Progress() { w.beat.Add(1) }

// Waits reports whether f holds of a message that is parked.
func (w *World) Waits(f func(Op) bool) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.ContainsFunc(w.parked, func(p *parked) bool { return f(p.op) })
}

// Trace is the record of the run so far.
func (w *World) Trace() *Trace { return w.trace }

// Finish ends the run after the current step.
func (w *World) Finish() { w.stop(errFinished) }

// Abort ends the run after the current step; Run returns err.
func (w *World) Abort(err error) { w.stop(err) }

func (w *World) stop(err error) {
	w.mu.Lock()
	if w.done == nil {
		w.done = err
	}
	w.mu.Unlock()
	w.signal()
}

func (w *World) stopped() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.done
}

func (w *World) signal() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// Hold keeps every message of an actor, or of a group of actors, parked until the matching Release,
// like a partitioned node. Steps on their own machine (Local, Op.OnNode) need no network and
// continue. Holds nest.
func (w *World) Hold(name string) { w.hold(name, 1) }

// Release undoes one Hold.
func (w *World) Release(name string) { w.hold(name, -1); w.signal() }

func (w *World) hold(name string, n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.held[name] += n; w.held[name] <= 0 {
		delete(w.held, name)
	}
}

// stays reports whether a message may not move now: its process is paused, or partitioned from
// every receiver of the message. The caller holds mu.
func (w *World) stays(a *Actor, op *Op) bool {
	near := op.Kind == Local || op.OnNode
	for _, name := range []string{string(a.ID), a.Group} {
		if w.paused[name] != nil || !near && w.held[name] > 0 {
			return true
		}
	}
	return false
}

// loop is the scheduler: wait until the bubble is quiet, list what could happen
// next, let the strategy choose, do it.
func (w *World) loop() error {
	var last *Step
	for {
		w.settle()
		w.reportPanics()
		if last != nil {
			w.report(last)
		}
		if w.opts.Ungated {
			w.reportSteps()
		}
		if err := w.limit(); err != nil {
			return err
		}
		c := w.choose(w.enabled())
		w.Progress()
		last = w.act(c)
	}
}

// report calls Hooks.Step for a step that is done.
func (w *World) report(s *Step) {
	if w.Hooks.Step != nil {
		w.Hooks.Step(s)
		w.settle() // hooks may have killed or woken processes: the enabled choices must not depend on the progress of goroutines
	}
	w.trace.details.keep(s, w.opts.Limits.Details)
}

func (w *World) settle() {
	synctest.Wait()
	for w.Hooks.Settle != nil && w.Hooks.Settle() {
		synctest.Wait()
	}
}

type panicked struct {
	id    ActorID
	value any
	stack string
}

func (w *World) reportPanics() {
	w.mu.Lock()
	ps := w.panics
	w.panics = nil
	w.mu.Unlock()
	if w.Hooks.Panic == nil || len(ps) == 0 {
		return
	}
	slices.SortFunc(ps, func(a, b panicked) int { return cmp.Compare(a.id, b.id) })
	for _, p := range ps {
		w.Hooks.Panic(p.id, p.value, p.stack)
	}
}

// movesMax bounds the decisions per allowed step. A message costs five at most
// (Delay, its size, Elapse, the outcome, its size); the rest is time passing.
const movesMax = 20

func (w *World) limit() error {
	switch err := w.stopped(); {
	case err != nil:
		return err
	case w.over.Load():
		return ErrInterrupted
	case len(w.trace.Steps) >= w.opts.Limits.Steps || w.moves >= movesMax*w.opts.Limits.Steps:
		return ErrSteps
	case w.Now() >= w.opts.Limits.Virtual:
		return ErrVirtual
	}
	return nil
}

// choose asks the strategy, unless there is only one choice, and records the decision. A second
// decision chooses the size of a Delay, a FailBefore, a LoseReply or a Draw.
func (w *World) choose(enabled []Choice) Choice {
	c := w.decide(enabled)
	w.level = w.level[:0]
	switch c.Outcome {
	case Delay:
		w.level = sized(w.level, c, len(Ladder))
	case FailBefore, LoseReply:
		for way := range w.opts.Faults.WaysOf(&c.Op, c.Outcome).All() {
			c.Level = way
			w.level = append(w.level, c)
		}
	case Proceed:
		w.level = sized(w.level, c, c.Op.Draws)
	}
	if len(w.level) > 1 {
		return w.decide(w.level)
	}
	return c
}

func sized(out []Choice, c Choice, sizes int) []Choice {
	for c.Level = range sizes {
		out = append(out, c)
	}
	return out
}

func (w *World) decide(enabled []Choice) Choice {
	pick := 0
	w.moves++
	if len(enabled) > 1 {
		pick = w.opts.Strategy.Pick(len(w.trace.Steps), enabled)
		pick = min(max(pick, 0), len(enabled)-1)
		w.trace.picks = append(w.trace.picks, pick)
	}
	w.trace.last = Decision{Step: len(w.trace.Steps) + 1, At: w.Now(), Pick: pick, Enabled: len(enabled), Choice: enabled[pick]}
	return enabled[pick]
}

// act carries a choice out and returns its step, nil for those that only move time.
func (w *World) act(c Choice) *Step {
	switch c.Outcome {
	case Elapse:
		w.elapse(c.Due)
		return nil
	case Delay:
		w.delay(c)
		return nil
	}
	s := w.trace.add()
	if c.Outcome.Fault() {
		w.faults++
	}
	w.deliver(c, s)
	time.Sleep(time.Nanosecond) // no two messages share an instant: upstream takes sequence numbers from the clock
	return s
}

func (w *World) deliver(c Choice, s *Step) {
	w.mu.Lock()
	i, ok := w.search(c.Op)
	if ok {
		s.Stack = w.parked[i].stack
	}
	if ok && c.Outcome != Crash {
		p := w.parked[i]
		w.parked = slices.Delete(w.parked, i, i+1)
		p.verdict <- verdict{c.Outcome, c.Level, s}
	}
	w.mu.Unlock()
	if c.Outcome == Crash {
		w.Kill(c.Op.Actor)
	}
}

func (w *World) delay(c Choice) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if i, ok := w.search(c.Op); ok {
		p := w.parked[i]
		p.delayed = true
		p.due = max(p.due, w.Now()+Ladder[c.Level])
	}
}

// elapse lets virtual time pass until due, or until the parked messages change.
func (w *World) elapse(due time.Duration) {
	// Forget changes from before the choice: with the wake-up of the message that
	// the last step caused to be parked, hardly any Elapse would move the clock.
	select {
	case <-w.wake:
	default:
	}
	t := time.NewTimer(max(due-w.Now(), 1))
	defer t.Stop()
	select {
	case <-w.wake:
	case <-t.C:
	}
	if i := w.opts.Instant; i > 0 {
		time.Sleep(i - w.Now()%i)
	}
}

// close kills every actor and gives their goroutines virtual time to unwind.
func (w *World) close() {
	w.mu.Lock()
	w.closed = true
	all := sortedActors(w.actors)
	w.mu.Unlock()
	for _, a := range all {
		w.end(a, ErrKilled)
		w.Progress()
	}
	for i := len(w.cleanups) - 1; i >= 0; i-- {
		w.cleanups[i]()
	}
	// Upstream goroutines end when their next timer fires: the slowest known is
	// client-go's event broadcaster and the reflector's back-off (30 s).
	time.Sleep(drain)
}

// drain is longer than any back-off or poll interval of the upstream code.
const drain = 10 * time.Minute

type stepKey struct{}

// Report attaches a note and a detail of the exchange to the step that delivers the message whose
// do function runs with ctx. The note is part of the digest.
func Report(ctx context.Context, note string, detail any) {
	if s, ok := ctx.Value(stepKey{}).(*Step); ok && s != nil {
		s.Note, s.Detail = note, detail
	}
}
