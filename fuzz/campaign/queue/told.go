package queue

import (
	"slices"

	"ipamsim/fuzz/coverage"
)

// Told is in which runs a worker process first saw each pair, state and state of an allocator, as many as
// matter. What it sees in others it leaves out of its answers. So all of these must come into the
// log, or the worker process must go.
type Told struct{ pairs, states, allocators map[uint64]few }

// few runs.
type few struct {
	runs [coverage.SightingsMax]coverage.Run
	n    uint8
}

// Sights of a run that are to be told; nil if there are none. Of the same run, done again for
// another coordinator, it tells the same.
func (t *Told) Sights(run coverage.Run, pairs, states, allocators []uint64) *Sights {
	x := &Sights{
		Run: run, Pairs: rare(&t.pairs, pairs, run, 1),
		States: rare(&t.states, states, run, coverage.SightingsMax), Allocators: rare(&t.allocators, allocators, run, coverage.SightingsMax),
	}
	if x.Size() == 0 {
		return nil
	}
	return x
}

// rare is what no more runs than most saw so far, this one among them.
func rare(told *map[uint64]few, seen []uint64, run coverage.Run, most uint8) Packed {
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
	return Pack(out)
}
