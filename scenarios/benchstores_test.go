package scenarios_test

import (
	"fmt"
	"testing"
	"time"

	"ipamsim/reports/bench"
	"ipamsim/scenarios"
)

// benchStores runs each seed of the worlds of five pods on etcd and on the fast
// store, in turn and in one process. What is left on the fast store is the API
// server, upstream's code and ours.
func benchStores(t *testing.T, m map[string]metric) {
	r := runner(t)
	for _, w := range []struct{ name, file string }{
		{"calico", "testdata/bench/calico-5-pods.yaml"}, {"whereabouts", "testdata/bench/whereabouts-5-pods.yaml"},
	} {
		s := load(t, w.file)
		const n = 60
		var wall, cpu []float64
		var used [2]time.Duration
		for seed := range uint64(n + 1) {
			var took, busy [2]time.Duration
			for turn := range 2 {
				i := (turn + int(seed)) % 2
				c, began := bench.CPU(), time.Now()
				run(t, r, s, scenarios.Options{Seed: &seed, Store: [...]string{scenarios.Etcd, scenarios.Memory}[i]})
				took[i], busy[i] = time.Since(began), bench.CPU()-c
			}
			if seed == 0 {
				continue // warm-up
			}
			wall, cpu = append(wall, took[0].Seconds()/took[1].Seconds()), append(cpu, busy[0].Seconds()/busy[1].Seconds())
			used[0], used[1] = used[0]+busy[0], used[1]+busy[1]
		}
		what := fmt.Sprintf("%s, %d seeds, each on etcd and in memory in turn, one process", s.Name(), n)
		m[w.name+"_fast_vs_etcd_ratio"] = bench.NewFigure(bench.Median(wall), "ratio", what+"; median of the pairs' wall times")
		m[w.name+"_fast_vs_etcd_cpu_ratio"] = bench.NewFigure(bench.Median(cpu), "ratio", what+"; median of the pairs' processor times")
		m[w.name+"_fast_runs_per_s_core"] = bench.NewFigure(n/used[1].Seconds(), "1/s", what+"; those in memory, by processor time")
		m[w.name+"_etcd_runs_per_s_core"] = bench.NewFigure(n/used[0].Seconds(), "1/s", what+"; those on etcd, by processor time")
	}
}
