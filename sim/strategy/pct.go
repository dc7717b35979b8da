package strategy

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"ipamsim/sim"
)

// PCT gives every process a random priority and always delivers the message of
// the highest, except that at d-1 random steps the process that is about to move
// drops below all others. A bug that needs d ordering constraints among n
// processes and k steps is found with probability at least 1/(n*k^(d-1)).
//
// In a cluster the textbook form hardly finds anything: leases and back-offs make
// windows a matter of time, and a process of the lowest priority still moves
// whenever it alone is ready (README.md). So a process that drops is frozen too:
// its message is held for 0.3 to 28 s of virtual time.
//
// Source: Burckhardt, Kothari, Musuvathi, Nagarakatte: A Randomized Scheduler with
// Probabilistic Guarantees of Finding Bugs, ASPLOS 2010, figure 4.
type PCT struct {
	seed   uint64
	depth  int
	freeze bool
	rng    *rand.Rand
	dice   dice
	drops  []int // steps at which the leader drops, ascending
	prio   map[sim.ActorID]float64
	low    float64 // below everything given so far
	size   int     // the rung of the Delay just picked, -1 if none was
}

// NewPCT draws the depth, 2 to 5, and a guess of the length of the run, which is unknown
// beforehand: a guess that is wrong by a factor of four weakens the bound by four for each
// change.
func NewPCT(seed uint64, s Settings) *PCT {
	rng := newRand(seed)
	const short, long = 50, 800
	length := short * math.Pow(long/short, rng.Float64())
	p := newPCT(seed, rng, 2+rng.IntN(4), int(length))
	p.freeze, p.dice = true, newDice(rng, s.Faults)
	return p
}

// NewTextbookPCT is the paper's algorithm for runs of a known length: no freezes,
// no faults.
func NewTextbookPCT(seed uint64, depth, length int) *PCT {
	return newPCT(seed, newRand(seed), depth, length)
}

func newPCT(seed uint64, rng *rand.Rand, depth, length int) *PCT {
	p := &PCT{seed: seed, depth: depth, rng: rng, prio: map[sim.ActorID]float64{}, size: -1}
	for range depth - 1 {
		p.drops = append(p.drops, rng.IntN(length))
	}
	slices.Sort(p.drops)
	return p
}

func (p *PCT) String() string { return fmt.Sprintf("pct(seed=%d,depth=%d)", p.seed, p.depth) }

// Begin allows one run.
func (p *PCT) Begin(n uint64) bool { return n == 0 }

// Pick delivers the message with the highest priority; time passes if there is none.
func (p *PCT) Pick(step int, enabled []sim.Choice) int {
	if sim.Sizing(enabled) {
		if p.size >= 0 {
			rung := p.size
			p.size = -1
			return rung
		}
		return p.rng.IntN(len(enabled))
	}
	best := p.leader(enabled)
	for best >= 0 && len(p.drops) > 0 && step >= p.drops[0] {
		p.drops = p.drops[1:]
		p.low--
		p.prio[enabled[best].Op.Actor] = p.low
		if d := best + 1; p.freeze && enabled[d].Outcome == sim.Delay {
			p.size = sim.Rung(stallFor(p.rng))
			return d
		}
		best = p.leader(enabled)
	}
	if best < 0 {
		return len(enabled) - 1
	}
	return p.dice.inject(enabled, best)
}

// leader is the deliverable message of the highest priority, or -1. Processes
// are given theirs as they appear.
func (p *PCT) leader(enabled []sim.Choice) int {
	best := -1
	for i, c := range enabled {
		if c.Outcome != sim.Proceed {
			continue
		}
		if _, ok := p.prio[c.Op.Actor]; !ok {
			p.prio[c.Op.Actor] = p.rng.Float64()
		}
		if best < 0 || p.prio[c.Op.Actor] > p.prio[enabled[best].Op.Actor] {
			best = i
		}
	}
	return best
}
