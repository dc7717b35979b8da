package campaign

import (
	"ipamsim/fuzz/campaign/queue"
	"ipamsim/fuzz/coverage"
)

// What runs saw is counted where the log is read, once for each run and only for runs that
// count, so the same runs come to the same numbers: whoever made them, in whatever order, and
// whatever was begun besides and done again, or never.

// sees takes in what a run saw, as soon as the run counts.
func (s *state) sees(x queue.Sights) {
	if done := s.sources[x.Source]; done == nil || !done.Has(x.Seed) {
		s.early[x.Run] = append(s.early[x.Run], x)
		return
	}
	for _, k := range x.Pairs.Numbers() {
		s.pairs[k] = struct{}{}
	}
	for _, k := range x.States.Numbers() {
		s.states.See(k, x.Run)
	}
	for _, k := range x.Allocators.Numbers() {
		s.allocators.See(k, x.Run)
	}
}

// saw takes in what the runs of a shard saw, which count from now on.
func (s *state) saw(r *queue.Result) {
	s.states.Ran(r.Done, r.Sights.States)
	s.allocators.Ran(r.Done, r.Sights.Allocators)
	for seed := r.Shard.From; seed < r.Shard.From+r.Done; seed++ {
		run := coverage.Run{Source: r.Shard.Source, Seed: seed}
		for _, x := range s.early[run] {
			s.sees(x)
		}
		delete(s.early, run)
	}
}
