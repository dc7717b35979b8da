package scenarios_test

import (
	"fmt"
	"testing"

	"ipamsim/reports/bench"
	"ipamsim/scenarios"
)

// familiesInTurn are the processor seconds and the steps of w1 in one family and in two.
func familiesInTurn(t testing.TB, seed uint64, store string) (used, took [2]float64) {
	const file = "w1-two-blocks-a-node.yaml"
	for turn := range used {
		side := (turn + int(seed)) % len(used)
		s := load(t, file)
		if side == 1 {
			s = twinOf(t, file).WithSimpleControllers() // as load has it
		}
		began := bench.CPU()
		rep := run(t, runner(t), s, scenarios.Options{Seed: &seed, Store: store})
		used[side], took[side] = (bench.CPU() - began).Seconds(), float64(len(rep.Trace.Steps))
	}
	return used, took
}

// BenchmarkFamilies are pairs in memory: go test ./scenarios -bench Families -cpuprofile F.
func BenchmarkFamilies(b *testing.B) {
	var used, took [2]float64
	for seed := uint64(0); b.Loop(); seed++ {
		u, n := familiesInTurn(b, seed, scenarios.Memory)
		for i := range used {
			used[i], took[i] = used[i]+u[i], took[i]+n[i]
		}
	}
	b.ReportMetric(used[1]/used[0], "cpu-ratio")
	b.ReportMetric(took[1]/took[0], "steps-ratio")
	b.ReportMetric(1e6*used[0]/took[0], "µs/step-one")
	b.ReportMetric(1e6*used[1]/took[1], "µs/step-two")
}

// benchFamilies runs each seed of a scenario of IPv4 and of its twin in dual stack, in turn
// and in one process.
func benchFamilies(t *testing.T, m map[string]metric) {
	const n = 10
	var cpu, perStep, steps []float64
	for seed := range uint64(n + 1) {
		used, took := familiesInTurn(t, seed, scenarios.Etcd)
		if seed > 0 { // the first warms up
			cpu, steps = append(cpu, used[1]/used[0]), append(steps, took[1]/took[0])
			perStep = append(perStep, used[1]/took[1]/(used[0]/took[0]))
		}
	}
	what := fmt.Sprintf("w1-two-blocks-a-node and its twin in dual stack, %d seeds in turn, one process; median of the pairs' ", n)
	m["dual_stack_cpu_ratio"] = bench.NewFigure(bench.Median(cpu), "ratio", what+"processor times")
	m["dual_stack_steps_ratio"] = bench.NewFigure(bench.Median(steps), "ratio", what+"steps: upstream asks for each family by itself")
	m["dual_stack_cpu_per_step_ratio"] = bench.NewFigure(bench.Median(perStep), "ratio", what+"processor times of a step")
}
