package scenarios_test

import (
	"runtime"
	"testing"

	"ipamsim/scenarios"
)

// 1,000 runs with Kubernetes' own controllers leave nothing behind: neither goroutines nor
// what a collection cannot free.
func TestMemory(t *testing.T) {
	if !*full {
		t.Skip("SKIPPED: make memory")
	}
	r := runner(t)
	s := load(t, "testdata/bench/whereabouts-5-pods.yaml")
	s.Doc.Spec.Controllers = "real"
	left := func() (heapKiB, goroutines int) {
		runtime.GC()
		runtime.GC() // what the first one's finalizers kept
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int(m.HeapAlloc >> 10), runtime.NumGoroutine()
	}
	const warm, last = 100, 1000
	heap, routines := 0, 0
	for seed := uint64(1); seed <= last; seed++ {
		run(t, r, s, scenarios.Options{Seed: &seed, Store: scenarios.Memory})
		if seed%100 != 0 {
			continue
		}
		h, n := left()
		if t.Logf("after %d runs: %d KiB, %d goroutines", seed, h, n); seed == warm {
			heap, routines = h, n
		}
	}
	h, n := left()
	if grown := h - heap; grown > 4*(last-warm) { // 4 KiB a run
		t.Errorf("%d runs left %d KiB", last-warm, grown)
	}
	if n > routines {
		t.Errorf("%d goroutines, after %d runs there were %d", n, warm, routines)
	}
}
