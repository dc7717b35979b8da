package strategy

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"ipamsim/sim"
)

// Delay follows a deterministic scheduler, each process in turn until it waits for
// something, and disturbs it at one to four random steps: the process that is about
// to move must let the next one go first. Small deviations from the order an author
// has in mind reach many bugs, and there are few of them.
//
// Every second delay also takes 0.3 to 28 s of virtual time: in a cluster the turn
// comes back within microseconds, before any timer (see PCT).
//
// Source: Emmi, Qadeer, Rakamarić: Delay-Bounded Scheduling, POPL 2011, section 3.
// Exhaustive walks through all schedules within such a bound.
type Delay struct {
	seed   uint64
	rng    *rand.Rand
	dice   dice
	delays []int // steps, ascending
	bound  int
	turn   sim.ActorID
	size   int // the rung of the outcome Delay just picked, -1 if none was
}

// NewDelay draws the delays. The length of the run is guessed as PCT does.
func NewDelay(seed uint64, s Settings) *Delay {
	rng := newRand(seed)
	const short, long = 50, 800
	length := int(short * math.Pow(long/short, rng.Float64()))
	d := &Delay{seed: seed, rng: rng, bound: 1 + rng.IntN(4), size: -1}
	for range d.bound {
		d.delays = append(d.delays, rng.IntN(length))
	}
	slices.Sort(d.delays)
	d.dice = newDice(rng, s.Faults)
	return d
}

func (d *Delay) String() string { return fmt.Sprintf("delay(seed=%d,bound=%d)", d.seed, d.bound) }

// Begin allows one run.
func (d *Delay) Begin(n uint64) bool { return n == 0 }

// Pick gives each process its turn.
func (d *Delay) Pick(step int, enabled []sim.Choice) int {
	if sim.Sizing(enabled) {
		if d.size >= 0 {
			rung := d.size
			d.size = -1
			return rung
		}
		return d.rng.IntN(len(enabled))
	}
	next := turn(enabled, d.turn)
	for next >= 0 && len(d.delays) > 0 && step >= d.delays[0] {
		d.delays = d.delays[1:]
		if i := next + 1; d.rng.IntN(2) == 0 && enabled[i].Outcome == sim.Delay {
			d.size = sim.Rung(stallFor(d.rng))
			return i
		}
		next = turn(enabled, enabled[next].Op.Actor+"\x00") // the first one after it
	}
	if next < 0 {
		return len(enabled) - 1
	}
	d.turn = enabled[next].Op.Actor
	return d.dice.inject(enabled, next)
}

// turn is the first deliverable message of the process whose turn it is, or otherwise of the next
// process in round-robin order; -1 if there is none.
func turn(enabled []sim.Choice, whose sim.ActorID) int {
	first := -1
	for i, c := range enabled {
		if c.Outcome != sim.Proceed {
			continue
		}
		if c.Op.Actor >= whose {
			return i
		}
		if first < 0 {
			first = i
		}
	}
	return first
}
