package scenarios_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"ipamsim/reports/bench"
	"ipamsim/scenarios"
	"ipamsim/sim"
)

// benchControllers runs each seed of the worlds of five pods with Kubernetes' own
// controllers and with the simple ones, in turn and in one process.
func benchControllers(t *testing.T, m map[string]metric) {
	r := runner(t)
	for _, w := range []struct{ name, file string }{
		{"calico", "testdata/bench/calico-5-pods.yaml"}, {"whereabouts", "testdata/bench/whereabouts-5-pods.yaml"},
	} {
		const n = 30
		sides := []struct {
			name, controllers string
			cpu               []float64 // seconds, by seed
			steps, calls      int
		}{{name: "real", controllers: "real"}, {name: "simple"}}
		for seed := range uint64(n + 1) {
			for turn := range sides {
				x := &sides[(turn+int(seed))%len(sides)]
				s := load(t, w.file)
				s.Doc.Spec.Controllers = x.controllers
				began := bench.CPU()
				rep := run(t, r, s, scenarios.Options{Seed: &seed})
				if used := (bench.CPU() - began).Seconds(); seed > 0 { // the first warms up
					x.cpu, x.steps, x.calls = append(x.cpu, used), x.steps+len(rep.Trace.Steps), x.calls+rep.Calls
				}
			}
		}
		var ratios []float64
		for i, used := range sides[0].cpu {
			ratios = append(ratios, used/sides[1].cpu[i])
		}
		what := fmt.Sprintf("%s-5-pods, %d seeds, each with Kubernetes' own controllers and with the simple ones in turn, one process", w.name, n)
		m[w.name+"_real_vs_simple_cpu_ratio"] = bench.NewFigure(bench.Median(ratios), "ratio", what+"; median of the pairs' processor times")
		for _, x := range sides {
			m[w.name+"_"+x.name+"_controllers_ms"] = bench.NewFigure(bench.Median(x.cpu)*1e3, "ms",
				fmt.Sprintf("same runs, processor time of one with %s controllers (%d steps and %d API calls a run)", x.name, x.steps/n, x.calls/n))
		}
	}
	benchIdleHour(t, m, r)
}

// benchIdleHour counts the messages of an hour in which nothing happens.
func benchIdleHour(t *testing.T, m map[string]metric, r *scenarios.Runner) {
	s := load(t, "testdata/bench/calico-5-pods.yaml")
	spec := &s.Doc.Spec
	spec.Controllers, spec.Reconcilers, spec.Churn, spec.Until.Duration = "real", nil, nil, time.Hour
	steps := run(t, r, s, scenarios.Options{}).Trace.Steps
	began := slices.IndexFunc(steps, func(s *sim.Step) bool { return s.At > time.Minute })
	m["idle_hour_steps"] = bench.NewFigure(float64(len(steps)-began), "steps", "after the first minute of an hour with five pods on two nodes and Kubernetes' own controllers: what kubelets say of their nodes, and who hears it")
}
