package campaign

import (
	"testing"
	"time"

	"ipamsim/fuzz/coverage"
)

// TestPromising: sources that had no time come first, then the one that shows most in a
// second, and the others as often as they must.
func TestPromising(t *testing.T) {
	c := &coordinator{state: newState(), asked: map[string]Shard{}, planned: map[int]*spans{}, window: 1}
	c.Spec.Sources = make([]Source, 3)
	c.Time = time.Hour
	c.state.apply(epoch(1), at(0))
	// Of the second source each run shows two new kinds, of the others none does.
	fresh, moment := uint64(1000), 0
	turns := make([]int, 3)
	for range 200 {
		s, ok := c.next()
		if !ok {
			t.Fatal("nothing is left")
		}
		turns[s.Source]++
		s.Epoch = 1
		r := &Result{Shard: s, Done: s.Runs, Wall: time.Second}
		var seen []sights
		for seed := s.From; seed < s.From+s.Runs; seed++ {
			x := sights{Run: coverage.Run{Source: s.Source, Seed: seed}, States: pack([]uint64{1, 2, 3})}
			if s.Source == 1 {
				x.States = pack([]uint64{1, fresh, fresh + 1})
				fresh += 2
			}
			seen = append(seen, x)
		}
		r.Sights.States = 3 * s.Runs
		moment++
		c.state.apply(event{Cover: seen}, at(moment))
		if !c.state.apply(event{Result: r}, at(moment)) {
			t.Fatalf("%+v does not count", s)
		}
	}
	if least := 200/3/leastPart - 1; turns[0] < least || turns[2] < least || turns[1] < 200*3/4 {
		t.Errorf("turns %v: the first and the last want at least %d of 200, the second three quarters", turns, least)
	}
}

// TestPromisingUnderWay: what is asked for counts as time that is given, or all that is under way
// would be of one source.
func TestPromisingUnderWay(t *testing.T) {
	c := &coordinator{state: newState(), asked: map[string]Shard{}, planned: map[int]*spans{}}
	c.Spec.Sources = make([]Source, 3)
	seen := map[int]bool{}
	for range 3 {
		s, _ := c.next()
		seen[s.Source] = true
		c.asked[s.key()] = s
	}
	if len(seen) != 3 {
		t.Errorf("asked for sources %v, want one shard of each", seen)
	}
}
