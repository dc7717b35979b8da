package campaign

import (
	"ipamsim/fuzz/campaign/queue"
	"ipamsim/fuzz/coverage"
)

// Sightings are counted when the log is read, once for each run and only for runs that count. So the
// same runs result in the same numbers, whichever workers did them in whatever order, and
// whichever runs were interrupted or repeated.

// addSights counts what a run saw, or stores it until the run counts.
func (s *state) addSights(x queue.Sights) {
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

// countSights counts what the runs of a shard saw, which count from now on.
func (s *state) countSights(r *queue.Result) {
	s.states.Ran(r.Done, r.Sights.States)
	s.allocators.Ran(r.Done, r.Sights.Allocators)
	for seed := r.Shard.From; seed < r.Shard.From+r.Done; seed++ {
		run := coverage.Run{Source: r.Shard.Source, Seed: seed}
		for _, x := range s.early[run] {
			s.addSights(x)
		}
		delete(s.early, run)
	}
}
