package queue

import (
	"slices"

	"ipamsim/fuzz/coverage"
)

// Reported records in which runs a worker process first saw each pair, state and allocator state, as many as
// matter. What it sees in others it leaves out of its answers. So all of these must come into the
// log, or the worker process must go.
type Reported struct{ pairs, states, allocators map[uint64]few }

// few runs.
type few struct {
	runs [coverage.SightingsMax]coverage.Run
	n    uint8
}

// Sights returns the sights of a run that the worker must report; nil if there are none. For the same run, repeated for
// another coordinator, it returns the same.
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

// rare is what no more runs than most saw so far, this one among them.
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
