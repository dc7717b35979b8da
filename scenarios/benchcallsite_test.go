package scenarios_test

import (
	"fmt"
	"testing"
	"time"

	"ipamsim/reports/bench"
	"ipamsim/scenarios"
)

// benchCallSites runs each seed of the worlds of five pods with call sites and without,
// in turn, in one process and on the fast store, where a run has the least else to do. A
// pair is one run of each world, so that a collection of garbage that hits one of them
// weighs less.
func benchCallSites(t *testing.T, m map[string]metric) {
	r := runner(t)
	worlds := []*scenarios.Scenario{load(t, "testdata/bench/calico-5-pods.yaml"), load(t, "testdata/bench/whereabouts-5-pods.yaml")}
	play := func(seed uint64, siteless bool) (used time.Duration) {
		for _, s := range worlds {
			cpu := bench.CPU()
			run(t, r, s, scenarios.Options{Seed: &seed, Store: scenarios.Memory, Siteless: siteless})
			used += bench.CPU() - cpu
		}
		return used
	}
	const n = 100
	var ratios []float64
	var with, without time.Duration
	for seed := range uint64(n + 1) {
		var used [2]time.Duration
		for turn := range 2 {
			i := (turn + int(seed)) % 2
			used[i] = play(seed, i == 1)
		}
		if seed == 0 {
			continue // warm-up
		}
		ratios = append(ratios, used[0].Seconds()/used[1].Seconds())
		with, without = with+used[0], without+used[1]
	}
	what := fmt.Sprintf("processor time of a run of each testdata/bench world on the fast store with call sites against without, in turn, one process, %d seeds", n)
	m["callsite_overhead_ratio"] = bench.NewFigure(bench.Median(ratios), "ratio", what+"; median of the pairs")
	m["callsite_overhead_mean_ratio"] = bench.NewFigure(with.Seconds()/without.Seconds(), "ratio", "same pairs, of the sums")
	m["callsite_overhead_quartiles"] = bench.NewFigure(bench.Quantile(ratios, 0.75)-bench.Quantile(ratios, 0.25), "ratio", "distance between the quartiles of the same pairs: how far to trust their median")
}
