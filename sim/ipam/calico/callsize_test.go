package calico

import (
	"fmt"
	"runtime"
	"testing"

	"ipamsim/sim"
	"ipamsim/sim/ipam/calico/store"
)

// The memory that the calls of a run report equals what the Go collector frees after they are
// shortened, within a factor of two; and a shortened call is correct in what it still contains.
func TestCallSize(t *testing.T) {
	tr, _ := story(t, startEtcd(t), allocRun{}, func(w *allocWorld) {
		w.pool("p", "10.64.0.0/16")
		for n := range 12 {
			w.nodes(fmt.Sprint("n", n))
			w.fill(fmt.Sprint("n", n), 40)
		}
	})
	before, sizes := heap(), 0
	for _, s := range tr.Steps {
		l, ok := s.Detail.(sim.Long)
		if !ok {
			continue
		}
		sizes += l.Size()
		s.Detail = l.Short()
		if c, ok := s.Detail.(store.Call); ok && (c.Size() > 2*store.PairBytes || !short(c, l.(store.Call))) {
			t.Fatalf("%+v shortened is %+v", l, c)
		}
	}
	freed := before - heap()
	runtime.KeepAlive(tr)
	t.Logf("%d steps: %d KiB by their own account, %d KiB freed", len(tr.Steps), sizes>>10, freed>>10)
	if sizes < freed/2 || sizes > freed*3/2 {
		t.Errorf("%d steps are said to keep %d bytes, and keep %d", len(tr.Steps), sizes, freed)
	}
}

// heap is the memory in use after a collection.
func heap() int {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}

// short reports whether a shortened call agrees with the original in what it still contains.
func short(c, was store.Call) bool {
	a, b := (&instance{}).Act(c), (&instance{}).Act(was)
	return a.Bare && a.Verb == b.Verb && a.Outcome == b.Outcome && a.Error == b.Error && a.Left == b.Left && a.Thing.Name == b.Thing.Name
}
