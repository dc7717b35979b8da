package strategy_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"ipamsim/sim"
	"ipamsim/sim/strategy"
)

// What only the schedule decides runs twice alike, faults and all.
func TestTwice(t *testing.T) {
	for seed := range uint64(50) {
		twice := strategy.NewTwice(random(seed))
		var digests []uint64
		for range strategy.Runs(twice) {
			o := sim.Options{Strategy: twice, Faults: sim.Budget{Allowed: ^sim.FaultSet(0), Max: 5}}
			_, tr := count(t, o, actor{id: "a"}, actor{id: "b"}, actor{id: "c", after: time.Second})
			digests = append(digests, tr.Digest())
		}
		if twice.Err() != nil || len(digests) != 2 || digests[0] != digests[1] {
			t.Errorf("seed %d: digests %x, %v", seed, digests, twice.Err())
		}
	}
}

// Each schedule of an enumeration is checked too.
func TestTwiceExhaustive(t *testing.T) {
	twice := strategy.NewTwice(strategy.NewExhaustive(strategy.Bounds{Depth: 9, Preemptions: 9, Delays: 9, Reorders: 9}))
	runs := 0
	for range strategy.Runs(twice) {
		runs++
		count(t, sim.Options{Strategy: twice}, actor{id: "a"}, actor{id: "b"})
	}
	if runs != 12 || twice.Err() != nil {
		t.Errorf("%d runs of 6 schedules, %v", runs, twice.Err())
	}
}

// What something else decides is reported with the place and the difference.
func TestTwiceReports(t *testing.T) {
	tests := []struct {
		name          string
		first, second []actor
		want          string
	}{
		{"another process", []actor{{id: "a"}, {id: "b"}}, []actor{{id: "a"}, {id: "c"}}, "after step 0, decision 1: the first run could proceed b#1 GET"},
		{"another time", []actor{{id: "a", after: time.Second}}, []actor{{id: "a", after: 2 * time.Second}}, "due 1s"},
		{"fewer", []actor{{id: "a"}, {id: "b", after: time.Hour}}, []actor{{id: "a"}}, "the first run went on for"},
		{"more", []actor{{id: "a"}}, []actor{{id: "a"}, {id: "b", after: time.Hour}}, "the second goes on"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			twice := strategy.NewTwice(strategy.NewSerial())
			for n := range strategy.Runs(twice) {
				count(t, sim.Options{Strategy: twice}, [][]actor{tt.first, tt.second}[n]...)
			}
			if err := twice.Err(); !errors.Is(err, strategy.ErrNondeterminism) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want ...%s...", err, tt.want)
			}
		})
	}
}

// The names of several runs give the described strategies, within a bound.
func TestParseSeveral(t *testing.T) {
	for _, name := range strategy.SeveralNames() {
		s := strategy.ParseSeveral(name, 7, strategy.Settings{})
		runs := 0
		for range strategy.Runs(s) {
			runs++
			count(t, sim.Options{Strategy: s}, actor{id: "a"}, actor{id: "b"})
		}
		if want := map[string]int{"exhaustive": 3, "twice": 2}[name]; runs != want || s.Err() != nil || !strings.HasPrefix(s.String(), name+"(") {
			t.Errorf("%v: %d runs, want %d; %v", s, runs, want, s.Err())
		}
	}
	if s := strategy.ParseSeveral("timed", 7, strategy.Settings{}); s != nil {
		t.Errorf("timed is %v, want none", s)
	}
}
