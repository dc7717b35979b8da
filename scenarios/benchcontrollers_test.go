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

// side is one of the two sets of controllers that a world is run with.
type side struct {
	name, controllers string
	cpu               []float64 // seconds, by seed
	steps, calls      int
}

// inTurn runs n seeds of a world with Kubernetes' own controllers and with the simple ones,
// in turn and in one process, and returns these and the ratio of each pair's processor times.
func inTurn(t testing.TB, file string, n int) (sides []side, ratios []float64) {
	r := runner(t)
	sides = []side{{name: "real", controllers: "real"}, {name: "simple", controllers: "simple"}}
	for seed := range uint64(n + 1) {
		for turn := range sides {
			x := &sides[(turn+int(seed))%len(sides)]
			s := load(t, file)
			s.Doc.Spec.Controllers = x.controllers
			began := bench.CPU()
			rep := run(t, r, s, scenarios.Options{Seed: &seed})
			if used := (bench.CPU() - began).Seconds(); seed > 0 { // the first warms up
				x.cpu, x.steps, x.calls = append(x.cpu, used), x.steps+len(rep.Trace.Steps), x.calls+rep.Calls
			}
		}
	}
	for i, used := range sides[0].cpu {
		ratios = append(ratios, used/sides[1].cpu[i])
	}
	return sides, ratios
}

// worldsOfFive are the worlds of five pods.
var worldsOfFive = []struct{ name, file string }{
	{"calico", "testdata/bench/calico-5-pods.yaml"}, {"whereabouts", "testdata/bench/whereabouts-5-pods.yaml"},
}

// benchControllers compares what the controllers of the worlds of five pods cost.
func benchControllers(t *testing.T, m map[string]metric) {
	for _, w := range worldsOfFive {
		const n = 30
		sides, ratios := inTurn(t, w.file, n)
		what := fmt.Sprintf("%s-5-pods, %d seeds, each with Kubernetes' own controllers and with the simple ones in turn, one process", w.name, n)
		m[w.name+"_real_vs_simple_cpu_ratio"] = bench.NewFigure(bench.Median(ratios), "ratio", what+"; median of the pairs' processor times")
		for _, x := range sides {
			m[w.name+"_"+x.name+"_controllers_ms"] = bench.NewFigure(bench.Median(x.cpu)*1e3, "ms",
				fmt.Sprintf("same runs, processor time of one with %s controllers (%d steps and %d API calls a run)", x.name, x.steps/n, x.calls/n))
		}
	}
	benchIdleHour(t, m, runner(t))
}

// BenchmarkControllersInTurn is that alone: -bench InTurn -benchtime 1x.
func BenchmarkControllersInTurn(b *testing.B) {
	for _, w := range worldsOfFive {
		b.Run(w.name, func(b *testing.B) {
			for b.Loop() {
				sides, ratios := inTurn(b, w.file, 30)
				b.ReportMetric(bench.Median(ratios), "real/simple")
				for _, x := range sides {
					b.ReportMetric(bench.Median(x.cpu)*1e3, x.name+"-ms")
				}
			}
		})
	}
}

// BenchmarkControllers is a run of Calico's world of five pods in memory, for profiles.
func BenchmarkControllers(b *testing.B) {
	r := runner(b)
	for _, who := range []string{"real", "simple"} {
		b.Run(who, func(b *testing.B) {
			s := load(b, "testdata/bench/calico-5-pods.yaml")
			s.Doc.Spec.Controllers = who
			for seed := uint64(1); b.Loop(); seed++ {
				run(b, r, s, scenarios.Options{Seed: &seed, Store: scenarios.Memory})
			}
		})
	}
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
