package scenarios_test

import (
	"fmt"
	"os"
	"runtime"
	"runtime/pprof"
	"strconv"
	"testing"
	"time"

	"ipamsim/reports/bench"
	"ipamsim/scenarios"
)

// benchControllers runs each seed of the worlds of five pods with Kubernetes' own
// controllers and with the simple ones, in turn and in one process.
func benchControllers(t *testing.T, m map[string]metric) {
	r := runner(t)
	for _, w := range []struct{ name, file string }{
		{"calico", "testdata/bench/calico-5-pods.yaml"}, {"whereabouts", "testdata/bench/whereabouts-5-pods.yaml"},
	} {
		simple, real := load(t, w.file), load(t, w.file)
		real.Doc.Spec.Controllers = "real"
		const n = 20
		var ratios []float64
		var steps, calls [2]int
		var used [2]time.Duration
		for seed := range uint64(n + 1) {
			var took [2]time.Duration
			for turn := range 2 {
				i := (turn + int(seed)) % 2
				began := bench.CPU()
				rep := run(t, r, []*scenarios.Scenario{real, simple}[i], scenarios.Options{Seed: &seed})
				took[i] = bench.CPU() - began
				steps[i] += len(rep.Trace.Steps)
				calls[i] += rep.Calls
			}
			if seed == 0 {
				steps, calls = [2]int{}, [2]int{}
				continue // warm-up
			}
			ratios = append(ratios, took[0].Seconds()/took[1].Seconds())
			used[0], used[1] = used[0]+took[0], used[1]+took[1]
		}
		what := fmt.Sprintf("%s, %d seeds, each with real controllers and simple ones in turn, one process (real: %d steps and %d API calls a run, simple: %d and %d; %.1f and %.1f ms)", w.name, n,
			steps[0]/n, calls[0]/n, steps[1]/n, calls[1]/n, used[0].Seconds()*1e3/n, used[1].Seconds()*1e3/n)
		m[w.name+"_real_vs_simple_cpu_ratio"] = bench.NewFigure(bench.Median(ratios), "ratio", what+"; median of the pairs' processor times")
	}
}

func TestBenchControllers(t *testing.T) {
	m := map[string]metric{}
	benchControllers(t, m)
	fmt.Print(bench.Rows(m))
}

// TestProf is temporary.
func TestProf(t *testing.T) {
	r := runner(t)
	w := os.Getenv("CT_WORLD")
	s := load(t, w)
	s.Doc.Spec.Controllers = os.Getenv("CT_CTRL")
	o := scenarios.Options{Store: os.Getenv("CT_STORE")}
	n, _ := strconv.Atoi(os.Getenv("CT_N"))
	one := uint64(1)
	o.Seed = &one
	rep := run(t, r, s, o)
	if os.Getenv("CT_LIST") != "" {
		for _, st := range rep.Trace.Steps {
			fmt.Println("STEP", st.At, st.Choice.Op.Actor, st.Choice.Op.Key, st.Note)
		}
	}
	if f := os.Getenv("CT_PROF"); f != "" {
		out, _ := os.Create(f)
		runtime.SetCPUProfileRate(1000)
		_ = pprof.StartCPUProfile(out)
		defer func() { pprof.StopCPUProfile(); out.Close() }()
	}
	c := bench.CPU()
	for seed := range uint64(n) {
		o.Seed = &seed
		run(t, r, s, o)
	}
	if n > 0 {
		fmt.Println("ms a run", (bench.CPU()-c).Seconds()*1e3/float64(n), "steps", len(rep.Trace.Steps), "calls", rep.Calls, "foreign", rep.Foreign)
	}
}
