package scenarios_test

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"ipamsim/reports/bench"
	"ipamsim/scenarios"
)

// benchCallSites runs the worlds of five pods with call sites and without, in turn, in one
// process and on the fast store, where a run has the least else to do. Each side of a
// pair begins with no garbage: its collection costs more than what is measured.
func benchCallSites(t *testing.T, m map[string]metric) {
	const (
		rounds = 60
		each   = 5 // of both worlds
	)
	r := runner(t)
	worlds := []*scenarios.Scenario{load(t, "testdata/bench/calico-5-pods.yaml"), load(t, "testdata/bench/whereabouts-5-pods.yaml")}
	play := func(siteless bool) time.Duration {
		runtime.GC()
		began := bench.CPU()
		for seed := range uint64(each) {
			for _, s := range worlds {
				run(t, r, s, scenarios.Options{Seed: &seed, Store: scenarios.Memory, Siteless: siteless})
			}
		}
		return bench.CPU() - began
	}
	var ratios []float64
	for i := range rounds + 1 {
		var used [2]time.Duration
		for turn := range 2 {
			side := (turn + i) % 2
			used[side] = play(side == 1)
		}
		if i > 0 { // the first warms up
			ratios = append(ratios, used[0].Seconds()/used[1].Seconds())
		}
	}
	m["callsite_overhead_ratio"] = bench.NewFigure(bench.Median(ratios), "ratio",
		fmt.Sprintf("processor time of %d runs of each testdata/bench world on the fast store, with call sites against without; median of %d rounds in turn", each, rounds))
	m["callsite_overhead_quartiles"] = bench.NewFigure(bench.Quantile(ratios, 0.75)-bench.Quantile(ratios, 0.25), "ratio", "distance between the quartiles of the same rounds: how far to trust their median")
}
