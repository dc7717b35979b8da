package campaign

import (
	"slices"

	"ipamsim/fuzz/coverage"
)

// What runs saw is counted where the log is read, once for each run and only for runs that
// count, so the same runs come to the same numbers: whoever made them, in whatever order, and
// whatever was begun besides and done again, or never.

// sights are what one run saw that its cell had seen in few runs before.
type sights struct {
	coverage.Run
	Pairs, States, Allocators packed `json:",omitempty"`
}

// size in bytes.
func (x *sights) size() int { return len(x.Pairs) + len(x.States) + len(x.Allocators) }

// sighted is how many kinds of states runs saw, all of them.
type sighted struct{ States, Allocators uint64 }

// told is in which runs a cell first saw each pair, state and state of an allocator, as many as
// matter. What it sees in others it leaves out of its answers. So all of these must come into the
// log, or the cell must go.
type told struct{ pairs, states, allocators map[uint64]few }

// few runs.
type few struct {
	runs [coverage.SightingsMax]coverage.Run
	n    uint8
}

// sights of a run that are to be told; nil if there are none. Of the same run, done again for
// another coordinator, it tells the same.
func (t *told) sights(run coverage.Run, pairs, states, allocators []uint64) *sights {
	x := &sights{
		Run: run, Pairs: rare(&t.pairs, pairs, run, 1),
		States: rare(&t.states, states, run, coverage.SightingsMax), Allocators: rare(&t.allocators, allocators, run, coverage.SightingsMax),
	}
	if x.size() == 0 {
		return nil
	}
	return x
}

// rare is what no more runs than most saw so far, this one among them.
func rare(told *map[uint64]few, seen []uint64, run coverage.Run, most uint8) packed {
	if *told == nil {
		*told = map[uint64]few{}
	}
	var out []uint64
	for _, k := range seen {
		x := (*told)[k]
		if !slices.Contains(x.runs[:x.n], run) {
			if x.n == most {
				continue
			}
			x.runs[x.n] = run
			x.n++
			(*told)[k] = x
		}
		out = append(out, k)
	}
	return pack(out)
}

// sees takes in what a run saw, as soon as the run counts.
func (s *state) sees(x sights) {
	if done := s.sources[x.Source]; done == nil || !done.has(x.Seed) {
		s.early[x.Run] = append(s.early[x.Run], x)
		return
	}
	for _, k := range x.Pairs.numbers() {
		s.pairs[k] = struct{}{}
	}
	for _, k := range x.States.numbers() {
		s.states.See(k, x.Run)
	}
	for _, k := range x.Allocators.numbers() {
		s.allocators.See(k, x.Run)
	}
}

// saw takes in what the runs of a shard saw, which count from now on.
func (s *state) saw(r *Result) {
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
