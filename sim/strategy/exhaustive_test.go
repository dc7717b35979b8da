package strategy_test

import (
	"testing"
	"time"

	"ipamsim/sim"
	"ipamsim/sim/strategy"
)

// n processes of two messages each have (2n)!/2^n interleavings. Within bounds
// there are fewer, and each is met once.
func TestExhaustiveCounts(t *testing.T) {
	const all = strategy.Unbounded
	tests := []struct {
		name      string
		processes int
		bounds    strategy.Bounds
		want      int
	}{
		{"the default order", 3, strategy.Bounds{}, 1},
		{"two", 2, strategy.Bounds{Depth: all, Preemptions: all, Delays: all}, 6},
		{"three", 3, strategy.Bounds{Depth: all, Preemptions: all, Delays: all}, 90},
		{"no preemption: the order of three processes", 3, strategy.Bounds{Depth: all, Delays: all}, 6},
		// Of a and b: ab ba, and each cut in by the other after its first message.
		{"one preemption", 2, strategy.Bounds{Depth: all, Preemptions: 1, Delays: all}, 4},
		// The turn passes on before either message of the first, or the first of the second.
		{"one delay", 2, strategy.Bounds{Depth: all, Preemptions: all, Delays: 1}, 3},
		{"the first decision only", 3, strategy.Bounds{Depth: 1, Preemptions: all, Delays: all}, 3},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e := strategy.NewExhaustive(tt.bounds)
			seen := map[uint64]bool{}
			for n := range strategy.Runs(e) {
				_, tr := count(t, sim.Options{Strategy: e}, []actor{{id: "a"}, {id: "b"}, {id: "c"}}[:tt.processes]...)
				if d := tr.Digest(); seen[d] {
					t.Errorf("run %d repeats another", n)
				} else {
					seen[d] = true
				}
			}
			if len(seen) != tt.want || e.Err() != nil {
				t.Errorf("%v: %d schedules, want %d; %v", e, len(seen), tt.want, e.Err())
			}
		})
	}
}

// The lost update takes one preemption: without preemptions it is proved absent, with one it is
// found. With a budget of one fault, that is tried too, in each of its ways.
func TestExhaustiveFinds(t *testing.T) {
	const all = strategy.Unbounded
	for preemptions, want := range []int{0, 2} {
		e := strategy.NewExhaustive(strategy.Bounds{Depth: all, Preemptions: preemptions, Delays: all})
		found := 0
		for range strategy.Runs(e) {
			if n, _ := count(t, sim.Options{Strategy: e}, actor{id: "a"}, actor{id: "b"}); n < 2 {
				found++
			}
		}
		if found != want {
			t.Errorf("%d preemptions: the update was lost in %d schedules, want %d", preemptions, found, want)
		}
	}

	e := strategy.NewExhaustive(strategy.Bounds{Depth: all, Faults: 1})
	outcomes := map[string]int{}
	for range strategy.Runs(e) {
		_, tr := count(t, sim.Options{Strategy: e, Faults: sim.Budget{Allowed: ^sim.FaultSet(0), Max: 9}}, actor{id: "a"})
		for _, s := range tr.Steps {
			if o := s.Choice.Outcome; o.Fault() {
				outcomes[o.String()]++
			}
		}
	}
	// A GET can fail in two ways or be stale, a PUT can fail in two or lose its reply.
	if outcomes["fail-before"] != 4 || outcomes["stale"] != 1 || outcomes["lose-reply"] != 1 || len(outcomes) != 3 {
		t.Errorf("faults tried: %v", outcomes)
	}
}

// A run that something else decides ends the enumeration.
func TestExhaustiveNondeterminism(t *testing.T) {
	e := strategy.NewExhaustive(strategy.Bounds{Depth: 10, Preemptions: 9, Delays: 9})
	runs := 0
	for n := range strategy.Runs(e) {
		runs++
		late := actor{id: "b", after: time.Duration(n) * time.Second}
		count(t, sim.Options{Strategy: e}, actor{id: "a"}, late, actor{id: "c"})
	}
	if e.Err() == nil || runs != 2 {
		t.Errorf("%d runs, error %v; want an error after 2", runs, e.Err())
	}
}
