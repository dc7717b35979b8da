package scenarios

import (
	"time"

	"ipamsim/sim"
	"ipamsim/sim/ipam"
	"ipamsim/sim/strategy"
)

// Settings returns the facts about the scenario that a strategy needs, for callers that make their own
// (Options.Walk).
func (s *Scenario) Settings() (strategy.Settings, error) {
	set := strategy.Settings{Latency: map[string]strategy.Latency{}}
	for class, l := range s.Doc.Spec.Latencies {
		set.Latency[class] = l.resolve()
	}
	if rates := s.Doc.Spec.Faults.Rates; rates != nil {
		set.Faults = strategy.FaultRates{}
		for name, p := range rates {
			o, err := sim.ParseOutcome(name)
			if err != nil {
				return set, err
			}
			set.Faults[o] = p
		}
	}
	set.Mix, _ = ipam.Part[[]strategy.Share](s.Manager())
	return set, nil
}

func (l Latency) resolve() strategy.Latency {
	out := strategy.Latency{Median: l.Median.Duration, Spread: l.Spread, Tail: l.Tail, Slow: l.Slow.Duration}
	if out.Median == 0 {
		out.Median = max(l.Min.Duration, 2*time.Millisecond)
	}
	if out.Spread == 0 {
		out.Spread = 0.5
	}
	return out
}
