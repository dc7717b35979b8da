package input

import (
	"context"
	"fmt"

	"ipamsim/reports"
	"ipamsim/scenarios"
	"ipamsim/sim/strategy"
)

// Record makes the run of s that o asks for, and the input that makes it again: its
// steps, one by one, as far as it went.
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

// follows is nil if a run begins as the recorded one did, which may have been ended
// early.
func follows(rep, recorded *reports.Report) error {
	got, want := rep.Trace.Steps, recorded.Trace.Steps
	for i, st := range want {
		if i >= len(got) || got[i].String() != st.String() {
			return fmt.Errorf("%w at step %d", strategy.ErrDiverged, i+1)
		}
	}
	return nil
}

// bare is the scenario without what has no part in a run that is replayed, and
// without what it expects: an input is judged by what is known of its target. Who
// measures is a process like others, and stays.
func bare(s *scenarios.Scenario, rep *reports.Report) *scenarios.Scenario {
	b := *s
	spec := &b.Doc.Spec
	spec.Controllers = s.Controllers()
	spec.Title, spec.Story, spec.Import, spec.Strategy, spec.Seed = "", "", scenarios.Import{}, "", &rep.Seed
	spec.Datastore = rep.Datastore
	spec.Schedule, spec.Expect = nil, nil
	return &b
}
