package strategy

import (
	"fmt"
	"math"

	"ipamsim/sim"
)

// Bounds say how far Exhaustive may stray from its default order: round robin,
// each process until it waits, time passing only when nothing else can happen,
// a process's messages in the order in which they were sent, and no faults. The zero value is that one schedule.
type Bounds struct {
	Depth       int // decisions that may be other than the default, counted from the first
	Preemptions int // how often a process that could move on has to wait
	Delays      int // total number of processes that the round robin skips
	Elapses     int // how often time passes although a message could go
	Faults      int
	Reorders    int // how often a message waits for one that its process sent later
}

// Unbounded means no bound. Elapses need a bound: time can always pass once more.
const Unbounded = math.MaxInt

// Exhaustive walks through every schedule within its bounds, depth first, one a
// run, each once. It is used run after run until Begin says that nothing is left:
// then nothing within the bounds breaks the scenario. Lengthened latencies (the
// outcome Delay) are not tried: there are sixty of each.
//
// Sources: Musuvathi, Qadeer: Iterative Context Bounding, PLDI 2007 (preemptions);
// Emmi, Qadeer, Rakamarić: Delay-Bounded Scheduling, POPL 2011 (delays).
type Exhaustive struct {
	bounds Bounds
	path   []branch // the decisions of this run
	at     int      // the next one
	left   Bounds   // what this run may still spend
	turn   sim.ActorID
	order  order
	err    error
}

// branch is a decision and the choices that are left to try.
type branch struct {
	enabled int
	ways    []way
}

// way is a choice and its cost.
type way struct {
	pick int
	cost Bounds
}

// NewExhaustive makes an enumeration.
func NewExhaustive(b Bounds) *Exhaustive { return &Exhaustive{bounds: b} }

func (e *Exhaustive) String() string {
	text := func(n int) string {
		if n == Unbounded {
			return "any"
		}
		return fmt.Sprint(n)
	}
	b := e.bounds
	return fmt.Sprintf("exhaustive(depth=%s,preemptions=%s,delays=%s,elapses=%s,faults=%s,reorders=%s)",
		text(b.Depth), text(b.Preemptions), text(b.Delays), text(b.Elapses), text(b.Faults), text(b.Reorders))
}

// Begin goes back to the last decision that has another way.
func (e *Exhaustive) Begin(n uint64) bool {
	if e.err != nil {
		return false
	}
	if n == 0 {
		e.path = nil
	}
	for n > 0 {
		last := len(e.path) - 1
		if last < 0 {
			return false
		}
		if b := &e.path[last]; len(b.ways) > 1 {
			b.ways = b.ways[1:]
			break
		}
		e.path = e.path[:last]
	}
	e.at, e.left, e.turn, e.order = 0, e.bounds, "", order{}
	return true
}

// Err reports a run that did not follow the beginning of the one before: something
// but the schedule decides, and the enumeration proves nothing.
func (e *Exhaustive) Err() error { return e.err }

// Pick follows the path to its end, then the default.
func (e *Exhaustive) Pick(step int, enabled []sim.Choice) int {
	if e.bounds.Reorders != Unbounded {
		e.order.record(enabled)
	}
	if e.at == len(e.path) {
		e.path = append(e.path, branch{len(enabled), e.ways(enabled)})
	}
	b := e.path[e.at]
	if b.enabled != len(enabled) && e.err == nil {
		e.err = fmt.Errorf("%w after step %d, decision %d: %d choices, %d in the run before", ErrNondeterminism, step, e.at+1, len(enabled), b.enabled)
	}
	w := b.ways[0]
	e.at++
	e.left = e.left.less(w.cost)
	if c := enabled[min(w.pick, len(enabled)-1)]; c.Outcome == sim.Proceed {
		e.turn = c.Op.Actor
	}
	return w.pick
}

// ways lists what can be afforded here, the default first.
func (e *Exhaustive) ways(enabled []sim.Choice) (out []way) {
	if sim.Sizing(enabled) {
		for i := range enabled {
			out = append(out, way{pick: i})
		}
		return e.deep(out)
	}
	first := turn(enabled, e.turn)
	if first < 0 {
		return []way{{pick: len(enabled) - 1}}
	}
	preempts := 0
	if enabled[first].Op.Actor == e.turn {
		preempts = 1
	}
	passed := -1 // processes passed over, counted round from first
	var at sim.ActorID
	for i := range enabled[:len(enabled)-1] {
		j := (first + i) % (len(enabled) - 1)
		c := enabled[j]
		var cost Bounds
		switch {
		case c.Outcome == sim.Proceed:
			if c.Op.Actor != at || passed < 0 {
				passed, at = passed+1, c.Op.Actor
			}
		case c.Outcome.Fault():
			cost.Faults = 1
		default:
			continue
		}
		if cost.Delays = passed; passed > 0 {
			cost.Preemptions = preempts
		}
		if e.order.overtakes(enabled, c.Op) {
			cost.Reorders = 1
		}
		out = e.afford(out, way{j, cost})
	}
	out = e.afford(out, way{len(enabled) - 1, Bounds{Elapses: 1}})
	return e.deep(out)
}

func (e *Exhaustive) afford(ways []way, w way) []way {
	if l := e.left.less(w.cost); min(l.Preemptions, l.Delays, l.Elapses, l.Faults, l.Reorders) < 0 {
		return ways
	}
	return append(ways, w)
}

// deep leaves only the default beyond the depth.
func (e *Exhaustive) deep(ways []way) []way {
	if e.at >= e.bounds.Depth {
		return ways[:1]
	}
	return ways
}

func (b Bounds) less(cost Bounds) Bounds {
	sub := func(have, spend int) int {
		if have == Unbounded {
			return have
		}
		return have - spend
	}
	return Bounds{
		Depth: b.Depth, Preemptions: sub(b.Preemptions, cost.Preemptions), Delays: sub(b.Delays, cost.Delays),
		Elapses: sub(b.Elapses, cost.Elapses), Faults: sub(b.Faults, cost.Faults),
		Reorders: sub(b.Reorders, cost.Reorders),
	}
}
