package strategy

import (
	"fmt"
	"math/rand/v2"
	"time"

	"ipamsim/sim"
)

// Timed is the realistic order: every message draws a latency from the distribution of its class,
// and the earliest goes first. With heavy tails it is also the best searcher for narrow windows
// that was measured (README.md).
type Timed struct {
	seed    uint64
	rng     *rand.Rand
	dice    dice
	latency map[string]Latency
}

// NewTimed makes a Timed strategy. A class without a distribution uses "api"'s; a
// scenario without "api" uses 2 ms with spread 0.5, a quiet server.
func NewTimed(seed uint64, s Settings) *Timed {
	rng := newRand(seed)
	return &Timed{seed: seed, rng: rng, dice: newDice(rng, s.Faults), latency: s.Latency}
}

func (t *Timed) String() string { return fmt.Sprintf("timed(seed=%d)", t.seed) }

// Begin allows one run.
func (t *Timed) Begin(n uint64) bool { return n == 0 }

// Pick sizes new messages, then delivers the one that has been due the longest.
func (t *Timed) Pick(_ int, enabled []sim.Choice) int {
	if sim.Sizing(enabled) {
		return t.size(enabled)
	}
	best := -1
	for i, c := range enabled {
		switch c.Outcome {
		case sim.Delay:
			return i
		case sim.Proceed:
			if best < 0 || c.Due < enabled[best].Due {
				best = i
			}
		}
	}
	if best < 0 {
		return len(enabled) - 1
	}
	return t.dice.inject(enabled, best)
}

func (t *Timed) size(enabled []sim.Choice) int {
	c := enabled[0]
	if c.Outcome != sim.Delay {
		return t.rng.IntN(len(enabled))
	}
	return sim.Rung(t.of(c.Op.Class).of(c.Op, t.rng))
}

func (t *Timed) of(class string) Latency {
	if class == "draw" {
		return Latency{} // a thought, not a message
	}
	if l, ok := t.latency[class]; ok {
		return l
	}
	if l, ok := t.latency["api"]; ok {
		return l
	}
	return quiet
}

// quiet is a server that has nothing else to do.
var quiet = Latency{Median: 2 * time.Millisecond, Spread: 0.5}
