package strategy

import (
	"fmt"
	"math/rand/v2"

	"ipamsim/sim"
)

// Stress asks for no gate at all: every message takes about 2 ms and then arrives,
// goroutines that are ready at the same time run as the runtime lets them. It is
// what a plain test with many goroutines does, and the measure for everything else
// here.
//
// Its schedule does not replay its runs. On the hermetic runtime the seed does.
type Stress struct {
	seed uint64
	rng  *rand.Rand
}

// NewStress makes a stress run.
func NewStress(seed uint64) *Stress { return &Stress{seed, newRand(seed)} }

func (s *Stress) String() string { return fmt.Sprintf("stress(seed=%d)", s.seed) }

// Ungated asks the kernel to park nothing.
func (s *Stress) Ungated() bool { return true }

// Begin allows one run.
func (s *Stress) Begin(n uint64) bool { return n == 0 }

// Pick says how long a message takes and answers Draws.
func (s *Stress) Pick(_ int, enabled []sim.Choice) int {
	if enabled[0].Outcome == sim.Delay {
		return sim.Rung(quiet.draw(s.rng))
	}
	return s.rng.IntN(len(enabled))
}
