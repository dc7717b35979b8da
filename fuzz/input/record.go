package input

import (
	"context"
	"fmt"

	"ipamsim/reports"
	"ipamsim/scenarios"
	"ipamsim/sim/strategy"
)

// Record runs s with o, and returns the input that repeats the run, step by step, as far as it went.
func Record(ctx context.Context, r *scenarios.Runner, s *scenarios.Scenario, o scenarios.Options) (Input, *reports.Report, error) {
	rep, err := r.Run(ctx, s, o)
	if err != nil {
		return Input{}, rep, err
	}
	world := bare(s, rep)
	text, err := world.YAML()
	if err != nil {
		return Input{}, rep, err
	}
	rec := strategy.NewDeviated(strategy.NewReplay(rep.Trace.Schedule()))
	if _, err := r.Run(ctx, world, scenarios.Options{Walk: rec, Store: o.Store}); err != nil {
		return Input{}, rep, err
	}
	in := Input{World: text, Schedule: rec.Bytes()}
	again, err := r.Run(ctx, world, scenarios.Options{Walk: in.Walk(), Store: o.Store})
	if err == nil {
		err = follows(again, rep)
	}
	if err != nil {
		return Input{}, rep, fmt.Errorf("%s, seed %d: as bytes: %w", s.Name(), rep.Seed, err)
	}
	return in, rep, nil
}

// follows returns nil if a run begins like the recorded one, which may have been ended early.
func follows(rep, recorded *reports.Report) error {
	got, want := rep.Trace.Steps, recorded.Trace.Steps
	for i, st := range want {
		if i >= len(got) || got[i].String() != st.String() {
			return fmt.Errorf("%w at step %d", strategy.ErrDiverged, i+1)
		}
	}
	return nil
}

// bare returns the scenario without the parts that do not affect a replay, and without its expected
// violations: an input is checked against the known causes of its target. Metrics are kept, because the
// process that measures sends messages.
func bare(s *scenarios.Scenario, rep *reports.Report) *scenarios.Scenario {
	b := *s
	spec := &b.Doc.Spec
	spec.Controllers = s.Controllers()
	spec.Title, spec.Story, spec.Import, spec.Strategy, spec.Seed = "", "", scenarios.Import{}, "", &rep.Seed
	spec.Datastore = rep.Datastore
	spec.Schedule, spec.Expect = nil, nil
	return &b
}
