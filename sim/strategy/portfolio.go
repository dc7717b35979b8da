package strategy

import (
	"fmt"

	"ipamsim/sim"
)

// Share is how often Portfolio draws a strategy, relative to the others.
type Share struct {
	Name   string
	Weight int
}

// Mixtures that worked (README.md). Usual is for managers that work under leases
// and timers, such as Whereabouts; Racing for those that live by compare-and-swap,
// such as Calico, where a plain random walk meets some classes of failure 6 to 19
// times more often than PCT or POS.
var (
	Usual  = []Share{{"timed", 40}, {"stall", 30}, {"random", 20}, {"pct", 5}, {"pos", 5}}
	Racing = []Share{{"random", 50}, {"timed", 20}, {"stall", 20}, {"pct", 5}, {"pos", 5}}
)

// Portfolio draws one strategy for the whole run. No strategy is best at everything: each
// finds classes of failure that the others miss, and which ones a scenario has is not known
// beforehand.
type Portfolio struct {
	sim.Strategy // the one drawn

	seed uint64
}

// NewPortfolio draws by the weights of s.Mix. Servers have a bad day in two runs
// of three: see badDay.
func NewPortfolio(seed uint64, s Settings) *Portfolio {
	rng := newRand(seed ^ 0x9047f0110)
	mix := s.Mix
	if mix == nil {
		mix = Usual
	}
	s.Latency = badDay(rng, s.Latency)
	total := 0
	for _, m := range mix {
		total += m.Weight
	}
	n := rng.IntN(total)
	for _, m := range mix {
		if n -= m.Weight; n < 0 {
			return &Portfolio{strategies()[m.Name](seed, s), seed}
		}
	}
	panic("strategy: the weights of a portfolio changed while it drew")
}

func (p *Portfolio) String() string { return fmt.Sprintf("portfolio(seed=%d,%s)", p.seed, p.Strategy) }
