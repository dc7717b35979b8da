package fuzz_test

import (
	"flag"
	"fmt"
	"math"
	"testing"
	"time"

	"ipamsim/cmd/managers"
	"ipamsim/fuzz/coverage"
	"ipamsim/reports/bench"
	"ipamsim/scenarios"
	"ipamsim/sim/hermetic"
)

var (
	benchJSON = flag.String("bench-json", "", "bench: add the figures to this file")
	hunts     = flag.Int("hunts", 30, "bench: how often each side hunts")
)

type figure = bench.Figure

// TestBench measures the cost and the benefit of the feedback.
func TestBench(t *testing.T) {
	if *benchJSON == "" || !hermetic.Enabled {
		t.Skip("SKIPPED: make bench")
	}
	m := map[string]figure{}
	benchFeedback(t, m)
	benchHunts(t, m)
	if err := bench.Add(*benchJSON, m, nil); err != nil {
		t.Fatal(err)
	}
	fmt.Print(bench.Rows(m))
}

// benchHunts hunts with and without feedback, in turn.
func benchHunts(t *testing.T, m map[string]figure) {
	var lit, dark []float64
	for range *hunts {
		lit, dark = append(lit, hunt(t, "lit")), append(dark, hunt(t, "dark"))
		fmt.Printf("hunt: %g executions with feedback, %g without\n", lit[len(lit)-1], dark[len(dark)-1])
	}
	more, p := rankTest(dark, lit)
	how := fmt.Sprintf("executions of Go's fuzzer, one worker, until the first duplicate-address of %s from the plainest world; %d hunts each, at most %d executions, in turn", huntTarget, *hunts, huntMax)
	m["coverage_feedback_executions"] = bench.NewFigure(min(bench.Median(lit), huntMax), "executions", how+"; median with feedback")
	m["coverage_feedback_executions_without"] = bench.NewFigure(min(bench.Median(dark), huntMax), "executions", how+"; median without")
	m["coverage_feedback_gain_ratio"] = bench.NewFigure(min(bench.Median(dark), huntMax)/bench.Median(lit), "ratio", how+"; of the medians")
	m["coverage_feedback_without_is_longer"] = bench.NewFigure(more, "of 1", how+"; how often a hunt without takes longer than one with")
	m["coverage_feedback_p"] = bench.NewFigure(p, "", how+"; two-sided rank test of Mann and Whitney")
}

// rankTest returns the probability that an x is larger than a y, and the p-value of the two-sided
// test of Mann and Whitney by the normal distribution, which is adequate from 8 samples each.
func rankTest(x, y []float64) (larger, p float64) {
	ties := map[float64]float64{}
	for _, a := range x {
		ties[a]++
		for _, b := range y {
			if a > b {
				larger++
			} else if a == b {
				larger += 0.5
			}
		}
	}
	for _, b := range y {
		ties[b]++
	}
	nx, ny := float64(len(x)), float64(len(y))
	n, tied := nx+ny, 0.
	for _, k := range ties {
		tied += k*k*k - k
	}
	spread := math.Sqrt(nx * ny / 12 * (n + 1 - tied/(n*(n-1))))
	return larger / (nx * ny), math.Erfc(math.Abs(larger-nx*ny/2) / spread / math.Sqrt2)
}

func TestRankTest(t *testing.T) {
	tests := []struct {
		name      string
		x, y      []float64
		larger, p float64
	}{
		{"the same", []float64{1, 2, 3, 4}, []float64{1, 2, 3, 4}, 0.5, 1},
		{"all larger", []float64{9, 10, 11, 12, 13, 14, 15, math.Inf(1)}, []float64{1, 2, 3, 4, 5, 6, 7, 8}, 1, 0.0008},
	}
	for _, tt := range tests {
		if larger, p := rankTest(tt.x, tt.y); larger != tt.larger || math.Abs(p-tt.p) > 0.0001 {
			t.Errorf("%s: %.2f larger, p = %.4f; want %.2f, %.4f", tt.name, larger, p, tt.larger, tt.p)
		}
	}
}

// benchFeedback compares executions with and without feedback, in turn.
func benchFeedback(t *testing.T, m map[string]figure) {
	r, err := runner()
	if err != nil {
		t.Fatal(err)
	}
	const (
		rounds = 15
		each   = 5 // of both worlds
	)
	play := func(lit bool) time.Duration {
		began := bench.CPU()
		for seed := range uint64(each) {
			for _, name := range []string{"whereabouts", "calico"} {
				s, err := managers.All().Load("../scenarios/testdata/bench/" + name + "-5-pods.yaml")
				if err != nil {
					t.Fatal(err)
				}
				rep, err := r.Run(t.Context(), s, scenarios.Options{Seed: &seed, Store: scenarios.Memory})
				if err != nil {
					t.Fatal(err)
				}
				if lit {
					coverage.Count(rep)
				}
			}
		}
		return bench.CPU() - began
	}
	var ratios []float64
	for i := range rounds + 1 {
		first := play(i%2 == 0)
		ratio := first.Seconds() / play(i%2 != 0).Seconds()
		if i%2 != 0 {
			ratio = 1 / ratio
		}
		if i > 0 { // the first warms up
			ratios = append(ratios, ratio)
		}
	}
	m["coverage_feedback_overhead_ratio"] = bench.NewFigure(bench.Median(ratios), "ratio",
		fmt.Sprintf("processor time of %d runs of each testdata/bench world on the fast store, with feedback against without; median of %d rounds in turn", each, rounds))
}
