// Package strategy holds the ways to walk through the schedules of a scenario:
// one file each.
package strategy

import (
	"fmt"
	"iter"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"ipamsim/sim"
)

// Settings are what a strategy may need to know of a scenario.
type Settings struct {
	Latency map[string]Latency // by message class
	Faults  FaultRates
	Mix     []Share // of Portfolio; nil: Usual
}

// Latency is a log-normal distribution with an optional heavy tail.
type Latency struct {
	Median time.Duration
	Spread float64       // sigma of the logarithm; 0.5 is a quiet server, 1.5 a bad day
	Tail   float64       // probability of a straggler
	Slow   time.Duration // how slow a straggler is at least; beyond that it is Pareto, alpha 1.2
}

// FaultRates are probabilities per message, by outcome. A nil map lets every run
// draw its own (README.md: 0, 0, 1 or 3 in a hundred; more kills the calls before
// any race happens).
type FaultRates map[sim.Outcome]float64

// strategies for one run, by name. Those that need several runs, Exhaustive and
// Twice, are made by their own constructors and driven by Runs.
func strategies() map[string]func(seed uint64, s Settings) sim.Strategy {
	return map[string]func(uint64, Settings) sim.Strategy{
		"delay":     func(n uint64, s Settings) sim.Strategy { return NewDelay(n, s) },
		"pct":       func(n uint64, s Settings) sim.Strategy { return NewPCT(n, s) },
		"portfolio": func(n uint64, s Settings) sim.Strategy { return NewPortfolio(n, s) },
		"pos":       func(n uint64, s Settings) sim.Strategy { return NewPOS(n, s) },
		"random":    func(n uint64, s Settings) sim.Strategy { return NewRandom(n, s) },
		"serial":    func(uint64, Settings) sim.Strategy { return NewSerial() },
		"stall":     func(n uint64, s Settings) sim.Strategy { return NewStall(n, s) },
		"stress":    func(n uint64, _ Settings) sim.Strategy { return NewStress(n) },
		"swarm":     func(n uint64, s Settings) sim.Strategy { return NewSwarm(n, s) },
		"timed":     func(n uint64, s Settings) sim.Strategy { return NewTimed(n, s) },
	}
}

// Names lists what Parse accepts.
func Names() []string { return slices.Sorted(maps.Keys(strategies())) }

// Parse makes the strategy of that name for one run.
func Parse(name string, seed uint64, s Settings) (sim.Strategy, error) {
	make, ok := strategies()[name]
	if !ok {
		return nil, fmt.Errorf("unknown strategy %q, want one of %v", name, Names())
	}
	return make(seed, s), nil
}

// SeveralNames lists what ParseSeveral accepts.
func SeveralNames() []string { return []string{"exhaustive", "twice"} }

// ParseSeveral makes a strategy of several runs, to be driven by Runs: "exhaustive"
// is the default order and every schedule with one delay, "twice" repeats what
// Portfolio does. It is nil for any other name.
func ParseSeveral(name string, seed uint64, s Settings) Several {
	switch name {
	case "exhaustive":
		return NewExhaustive(Bounds{Depth: Unbounded, Preemptions: Unbounded, Delays: 1, Reorders: Unbounded})
	case "twice":
		return NewTwice(NewPortfolio(seed, s))
	}
	return nil
}

// Several is a strategy of several runs. Err, asked after the last, says that they
// prove nothing, because something but the schedule decides.
type Several interface {
	sim.Strategy
	Err() error
}

// Runs counts the runs that a strategy asks for, from 0, until nothing is left to
// explore. The body of the loop is one run.
func Runs(s sim.Strategy) iter.Seq[uint64] {
	return func(yield func(uint64) bool) {
		for n := uint64(0); s.Begin(n) && yield(n); n++ {
		}
	}
}

// dice decides which messages are hurt.
type dice struct {
	rng   *rand.Rand
	rates FaultRates
}

func newDice(rng *rand.Rand, rates FaultRates) dice {
	if rates == nil {
		rates = FaultRates{}
		usual := []float64{0, 0, .01, .03}
		for o := sim.FailBefore; o <= sim.Crash; o++ {
			rates[o] = usual[rng.IntN(len(usual))]
		}
	}
	return dice{rng, rates}
}

// inject returns the index of a faulty outcome for the message of enabled[proceed],
// or proceed itself. The outcomes of one message stand together.
func (d dice) inject(enabled []sim.Choice, proceed int) int {
	op := enabled[proceed].Op
	for i := proceed + 1; i < len(enabled) && enabled[i].Op.Actor == op.Actor && enabled[i].Op.Seq == op.Seq; i++ {
		o := enabled[i].Outcome
		if o.Fault() && d.rng.Float64() < d.rates[o] {
			return i
		}
	}
	return proceed
}

// draw samples the distribution.
func (l Latency) draw(rng *rand.Rand) time.Duration {
	if l.Tail > 0 && rng.Float64() < l.Tail {
		// The tail is unbounded and Ladder is not: a day counts as forever.
		return time.Duration(min(float64(l.Slow)/math.Pow(1-rng.Float64(), 1/1.2), float64(24*time.Hour)))
	}
	return time.Duration(float64(l.Median) * math.Exp(l.Spread*rng.NormFloat64()))
}

// of draws the latency of a message. A tail that does not begin later itself ends at slowMax
// for messages that a caller waits for: callers mostly give up after 30 s, and a message that
// is never answered is a fault and no slow server. Nothing waits for an event of a watch.
func (l Latency) of(op sim.Op, rng *rand.Rand) time.Duration {
	d := l.draw(rng)
	if op.Kind != sim.Event {
		d = min(d, max(l.Median, l.Slow, slowMax))
	}
	return d
}

// slowMax is as long as a stall at most.
const slowMax = 28 * time.Second

func newRand(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0x9e3779b97f4a7c15)) }
