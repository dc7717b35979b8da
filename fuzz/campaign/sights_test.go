package campaign

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"ipamsim/fuzz/campaign/queue"
	"ipamsim/fuzz/coverage"
)

// processes are worker processes that do runs with known sights, and write them to a log.
type processes struct {
	truth    [][]uint64 // kinds that each seed's run saw
	reported []queue.Reported
	log      []queue.Event
}

// does runs a shard in a worker process; lost: the process dies before its result is written.
func (c *processes) does(process, epoch int, g queue.Span, result, lost bool) {
	if g.From == g.To {
		return
	}
	r := &queue.Result{Shard: queue.Shard{Epoch: epoch, Kind: queue.Explore, From: g.From, Runs: g.To - g.From}, Done: g.To - g.From}
	var seen []queue.Sights
	for seed := g.From; seed < g.To; seed++ {
		k := c.truth[seed]
		r.Sights.States += uint64(len(k))
		r.Sights.Allocators += uint64(len(k))
		if x := c.reported[process].Sights(coverage.Run{Seed: seed}, slices.Clone(k), slices.Clone(k), slices.Clone(k)); x != nil {
			seen = append(seen, *x)
		}
	}
	if lost {
		c.reported[process] = queue.Reported{}
		return
	}
	if c.log = append(c.log, queue.Event{Cover: seen}); len(seen) == 0 {
		c.log = c.log[:len(c.log)-1]
	}
	if result {
		c.log = append(c.log, queue.Event{Result: r})
	}
}

// TestSightsOfTheSameRuns: the same runs have the same numbers, whatever the number of worker processes
// and whichever runs were repeated, lost, or done for an earlier coordinator.
func TestSightsOfTheSameRuns(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const runs = 40
		all := &processes{truth: make([][]uint64, runs), reported: make([]queue.Reported, 3)}
		for i := range all.truth {
			all.truth[i] = rapid.SliceOfNDistinct(rapid.Uint64Range(1, 30), 0, 6, rapid.ID[uint64]).Draw(t, "kinds")
		}
		alone := &processes{truth: all.truth, reported: make([]queue.Reported, 1)}
		alone.does(0, 1, queue.Span{From: 0, To: runs}, true, false)
		want := replayed(alone.log)

		now := 1
		for range rapid.IntRange(0, 40).Draw(t, "actions") {
			process := rapid.IntRange(0, len(all.reported)-1).Draw(t, "process")
			from := rapid.Uint64Range(0, runs-1).Draw(t, "from")
			g := queue.Span{From: from, To: min(runs, from+rapid.Uint64Range(1, 8).Draw(t, "length"))}
			switch rapid.SampledFrom([]string{"done", "done", "twice", "late", "no result", "lost", "a new coordinator"}).Draw(t, "action") {
			case "done":
				all.does(process, now, all.planned(g), true, false)
			case "twice": // the same shard
				g = all.planned(g)
				all.does(process, now, g, true, false)
				all.does((process+1)%len(all.reported), now, g, true, false)
			case "late":
				all.does(process, now-1, g, true, false)
			case "no result":
				all.does(process, now, g, false, false)
			case "lost":
				all.does(process, now, g, true, true)
			default:
				now++
				all.log = append(all.log, epoch(now))
			}
		}
		for g := all.planned(queue.Span{From: 0, To: runs}); g.From < g.To; g = all.planned(queue.Span{From: 0, To: runs}) {
			all.does(rapid.IntRange(0, len(all.reported)-1).Draw(t, "process"), now, g, true, false)
		}
		got := replayed(all.log)
		if got.runs != runs || got.states.Kinds() != want.states.Kinds() || len(got.pairs) != len(want.pairs) ||
			got.states.Unseen() != want.states.Unseen() || got.allocators.Unseen() != want.allocators.Unseen() {
			t.Fatalf("%d runs, %d kinds, %d pairs, %v; want %d, %d, %d, %v", got.runs, got.states.Kinds(), len(got.pairs), got.states.Unseen(),
				runs, want.states.Kinds(), len(want.pairs), want.states.Unseen())
		}
		if len(got.early) > 0 {
			t.Fatalf("%d runs count, but their sights were not counted", len(got.early))
		}
	})
}

// planned returns the first seeds that are not done.
func (c *processes) planned(g queue.Span) queue.Span {
	if done := replayed(c.log).sources[0]; done != nil {
		first := done.Gap(g.From, g.To-g.From)
		return queue.Span{From: min(first.From, g.To), To: min(first.To, g.To)}
	}
	return g
}

// replayed returns the state after a log, for a campaign with a first coordinator.
func replayed(log []queue.Event) *state {
	s := newState()
	s.apply(epoch(1), at(0))
	for i, e := range log {
		s.apply(e, at(i+1))
	}
	return s
}
