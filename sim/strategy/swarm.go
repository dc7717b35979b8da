package strategy

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"ipamsim/sim"
)

// Swarm gives every run its own mixture: some kinds of fault and not the others, none at all
// in a third of the runs, and servers that are fast or slow; Portfolio chooses the order. A
// run with every feature enabled hides bugs that need the absence of one, and most bugs need
// few features together.
//
// Source: Groce, Zhang, Eide, Chen, Regehr: Swarm Testing, ISSTA 2012.
type Swarm struct {
	sim.Strategy // orders the messages

	seed uint64
	on   []string // kinds of fault of this run
}

// NewSwarm draws the mixture. Faults that the scenario gives a rate keep it where
// they are on.
func NewSwarm(seed uint64, s Settings) *Swarm {
	rng := newRand(seed ^ 0x5a3a)
	w := &Swarm{seed: seed}
	rates := FaultRates{}
	none := rng.IntN(3) == 0
	for o := sim.FailBefore; o <= sim.Crash; o++ {
		rate := []float64{.01, .03}[rng.IntN(2)]
		if s.Faults != nil {
			rate = s.Faults[o]
		}
		if on := rng.IntN(2) == 0; on && !none && rate > 0 {
			rates[o] = rate
			w.on = append(w.on, o.String())
		}
	}
	s.Faults = rates
	s.Latency = badDay(rng, s.Latency)
	w.Strategy = NewPortfolio(seed, s)
	return w
}

func (w *Swarm) String() string {
	return fmt.Sprintf("swarm(seed=%d,faults=%s,%s)", w.seed, strings.Join(w.on, "+"), w.Strategy)
}

// badDay gives heavy tails to the classes of message that have none: one message
// in fifty or in ten waits for 0.3 s and more, however quick the server is else.
// A third of the runs stay as they are.
func badDay(rng *rand.Rand, latency map[string]Latency) map[string]Latency {
	tail := []float64{0, .02, .1}[rng.IntN(3)]
	slow := min(stallFor(rng), 5*time.Second)
	if tail == 0 {
		return latency
	}
	out := map[string]Latency{"api": quiet}
	for class, l := range latency {
		out[class] = l
	}
	for class, l := range out {
		if l.Tail == 0 && !slices.Contains([]string{"draw", "sandbox", "start", "stop"}, class) {
			l.Tail, l.Slow = tail, slow
			out[class] = l
		}
	}
	return out
}
