package strategy

import (
	"fmt"
	"math/rand/v2"

	"ipamsim/sim"
)

// Random delivers any parked message with equal probability, and now and then
// lets time pass instead: the best strategy for compare-and-swap races
// (README.md), blind to windows that are a matter of time.
type Random struct {
	seed   uint64
	rng    *rand.Rand
	dice   dice
	elapse float64
	ready  []int
}

// NewRandom makes a random walk. How often time passes is drawn once per run.
func NewRandom(seed uint64, s Settings) *Random {
	rng := newRand(seed)
	r := &Random{seed: seed, rng: rng, dice: newDice(rng, s.Faults)}
	r.elapse = drawElapse(rng)
	return r
}

// drawElapse draws how often time passes although a message could go.
func drawElapse(rng *rand.Rand) float64 { return []float64{.01, .05, .2}[rng.IntN(3)] }

func (r *Random) String() string { return fmt.Sprintf("random(seed=%d)", r.seed) }

// Begin allows one run.
func (r *Random) Begin(n uint64) bool { return n == 0 }

// Pick walks.
func (r *Random) Pick(_ int, enabled []sim.Choice) int {
	if sim.Sizing(enabled) {
		return r.rng.IntN(len(enabled))
	}
	r.ready = r.ready[:0]
	for i, c := range enabled {
		if c.Outcome == sim.Proceed {
			r.ready = append(r.ready, i)
		}
	}
	if len(r.ready) == 0 || r.rng.Float64() < r.elapse {
		return len(enabled) - 1
	}
	return r.dice.inject(enabled, r.ready[r.rng.IntN(len(r.ready))])
}
