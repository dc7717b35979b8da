package coverage

import (
	"math/bits"

	"ipamsim/fuzz/coverage/counter"
	"ipamsim/reports"
)

// Count shows Go's fuzzer what a run saw of the system: call it after the run,
// inside the fuzz target.
//
// Go's fuzzer keeps an input if a counter that the compiler put into the code
// reached a power of two that it never reached before, and mutates what it kept.
// Lines of code say little about a distributed system: after a few hundred runs
// all of them have been executed. So there is a table of empty functions, lamps,
// and what a run saw turns up the counters of some: which ones and how far follows
// from a hash, so that the same sight is the same counter in every process.
//
// In a build without counters nothing comes of it.
//
// Source: internal/fuzz, SnapshotCoverage and diffCoverage; cmd/compile, edge in
// walk/order.go (Go 1.26).
func Count(rep *reports.Report) {
	var up [len(counter.Table)]uint8
	light := func(hash uint64, level int) {
		l := &up[hash%uint64(len(counter.Table))]
		*l = max(*l, 1<<level)
	}
	for _, s := range rep.States {
		light(s, int(s>>32%levels))
	}
	for p, n := range meetings(rep.Trace) {
		light(p, min(bits.Len(uint(n)), levels)-1)
	}
	for i, n := range up {
		for range n {
			counter.Table[i]()
		}
	}
}

// levels of a counter: 1, 2, 4, … 128.
const levels = 8
