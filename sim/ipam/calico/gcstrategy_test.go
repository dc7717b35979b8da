package calico

import (
	"strings"
	"sync/atomic"
	"testing"

	"ipamsim/sim"
	"ipamsim/sim/strategy"
	"ipamsim/sim/way"
)

// fated is an order with one fault in it: the first message that mentions all of
// match and can be hurt in that way is, once the story has armed it.
type fated struct {
	sim.Strategy
	outcome sim.Outcome
	match   []string
	armed   atomic.Bool
	times   int // how many are still to come
}

func newFated(t testing.TB, seed uint64, times int, o sim.Outcome, match ...string) *fated {
	t.Helper()
	s, err := strategy.Parse("timed", seed, strategy.Settings{Faults: strategy.FaultRates{}})
	if err != nil {
		t.Fatal(err)
	}
	return &fated{Strategy: s, outcome: o, match: match, times: times}
}

// budget allows the fault of the fate, in ways after which no client retries by itself.
func (f *fated) budget() sim.Options {
	return sim.Options{Faults: sim.Budget{Allowed: sim.Of(f.outcome), Max: 1000, Ways: way.Of(way.Refused, way.EtcdTimeout)}}
}

// Pick lets fate have its way, else the order.
func (f *fated) Pick(step int, enabled []sim.Choice) int {
	if f.armed.Load() && f.times > 0 && !sim.Sizing(enabled) {
		for i, c := range enabled {
			if c.Outcome == f.outcome && mentions(c.Op, f.match) {
				f.times--
				return i
			}
		}
	}
	return f.Strategy.Pick(step, enabled)
}

func mentions(op sim.Op, match []string) bool {
	for _, m := range match {
		if !strings.Contains(op.String(), m) {
			return false
		}
	}
	return true
}

// stalled is an order in which messages that contain all of match do not move while on is set: one
// slow connection.
type stalled struct {
	sim.Strategy
	match []string
	on    atomic.Bool
	kept  []sim.Choice
	index []int
}

func newStalled(t testing.TB, seed uint64, match ...string) *stalled {
	t.Helper()
	s, err := strategy.Parse("timed", seed, strategy.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	return &stalled{Strategy: s, match: match}
}

// Pick asks the order about what may move.
func (s *stalled) Pick(step int, enabled []sim.Choice) int {
	if !s.on.Load() || sim.Sizing(enabled) {
		return s.Strategy.Pick(step, enabled)
	}
	s.kept, s.index = s.kept[:0], s.index[:0]
	for i, c := range enabled {
		if c.Outcome == sim.Elapse || !mentions(c.Op, s.match) {
			s.kept, s.index = append(s.kept, c), append(s.index, i)
		}
	}
	if len(s.kept) == 1 {
		return s.index[0]
	}
	return s.index[s.Strategy.Pick(step, s.kept)]
}
