package coverage

import (
	"math/bits"

	"ipamsim/fuzz/coverage/counter"
	"ipamsim/reports"
)

// Count reports to Go's fuzzer what a run saw of the system. Call it after the run, in the fuzz target.
//
// Go's fuzzer keeps an input if one of the counters that the compiler inserted reached a power of two that
// it had never reached before, and mutates the inputs that it keeps. Lines of code say little about a
// distributed system: after a few hundred runs all of them have been executed. So there is a table of
// empty functions, each with a counter. Count raises some of these counters: which ones, and how far,
// is computed from hashes of what the run saw, so that it is the same in every process.
//
// In a build without counters Count has no effect.
//
// Source: internal/fuzz, SnapshotCoverage and diffCoverage; cmd/compile, edge in
// walk/order.go (Go 1.26).
func Count(rep *reports.Report) {
	var up [len(counter.Table)]uint8
	raise := func(hash uint64, level int) {
		l := &up[hash%uint64(len(counter.Table))]
		*l = max(*l, 1<<level)
	}
	for _, s := range rep.States {
		raise(s, int(s>>32%levels))
	}
	for p, n := range meetings(rep.Trace) {
		raise(p, min(bits.Len(uint(n)), levels)-1)
	}
	for i, n := range up {
		for range n {
			counter.Table[i]()
		}
	}
}

// levels are the values of a counter: 1, 2, 4, … 128.
const levels = 8
