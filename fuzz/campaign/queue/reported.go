package queue

import (
	"slices"

	"ipamsim/fuzz/coverage"
)

// Reported records in which runs a worker process first saw each pair, state and allocator
// state, up to the number that the estimates need. The worker process omits later sightings from
// its results. Therefore all results with first sightings must reach the log; if one does not,
// the worker process has to end.
type Reported struct{ pairs, states, allocators map[uint64]few }

// few is a small set of runs.
type few struct {
	runs [coverage.SightingsMax]coverage.Run
	n    uint8
}

// Sights returns the sights of a run that the worker must report; nil if there are none. For the
// same run, repeated for another coordinator, it returns the same.
func (r *Reported) Sights(run coverage.Run, pairs, states, allocators []uint64) *Sights {
	x := &Sights{
		Run: run, Pairs: rare(&r.pairs, pairs, run, 1),
		States: rare(&r.states, states, run, coverage.SightingsMax), Allocators: rare(&r.allocators, allocators, run, coverage.SightingsMax),
	}
	if x.Size() == 0 {
		return nil
	}
	return x
}

// rare returns the kinds that at most most runs saw so far, this run included.
func rare(reported *map[uint64]few, seen []uint64, run coverage.Run, most uint8) Packed {
	if *reported == nil {
		*reported = map[uint64]few{}
	}
	var out []uint64
	for _, k := range seen {
		x := (*reported)[k]
		if !slices.Contains(x.runs[:x.n], run) {
			if x.n == most {
				continue
			}
			x.runs[x.n] = run
			x.n++
			(*reported)[k] = x
		}
		out = append(out, k)
	}
	return Pack(out)
}
