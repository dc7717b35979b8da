package scenarios_test

import (
	"fmt"
	"testing"

	"ipamsim/reports/bench"
	"ipamsim/scenarios"
)

// benchFamilies runs each seed of a scenario of IPv4 and of its twin in dual stack, in turn
// and in one process.
func benchFamilies(t *testing.T, m map[string]metric) {
	const file, n = "w1-two-blocks-a-node.yaml", 10
	r := runner(t)
	var cpu, perStep, steps []float64
	for seed := range uint64(n + 1) {
		var used, took [2]float64 // processor seconds and steps, of one family and of two
		for turn := range used {
			side := (turn + int(seed)) % len(used)
			s := load(t, file)
			if side == 1 {
				s = twinOf(t, file)
			}
			began := bench.CPU()
			rep := run(t, r, s, scenarios.Options{Seed: &seed})
			used[side], took[side] = (bench.CPU() - began).Seconds(), float64(len(rep.Trace.Steps))
		}
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
