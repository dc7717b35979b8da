package coverage_test

import (
	"fmt"
	"testing"

	"ipamsim/fuzz/coverage"
	"ipamsim/reports"
	"ipamsim/sim"
)

// BenchmarkCount is a run of 500 steps of 20 processes on 5 objects.
func BenchmarkCount(b *testing.B) {
	rep := &reports.Report{States: []uint64{1, 2, 3}, Trace: &sim.Trace{}}
	for i := range 500 {
		actor, key := fmt.Sprintf("cni-add/default/web-%d/net1", i*7%20), fmt.Sprintf("PATCH ippools/kube-system/10.0.%d.0-24", i*3%5)
		rep.Trace.Steps = append(rep.Trace.Steps, step(actor, key, sim.Write))
	}
	for b.Loop() {
		coverage.Count(rep)
	}
}
