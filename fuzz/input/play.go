package input

import (
	"context"
	"slices"

	"ipamsim/model"
	"ipamsim/reports"
	"ipamsim/scenarios"
)

// Play is the run of an input on a store of scenarios.Options. It ends with the
// step at which something is violated that the scenario does not expect: what comes
// after may be a consequence, and is not judged.
func (in Input) Play(ctx context.Context, r *scenarios.Runner, s *scenarios.Scenario, store string) (*reports.Report, error) {
	unexpected := func(_ *reports.Report, v *model.Violation) bool { return !expected(s, v) }
	return r.Run(ctx, s, scenarios.Options{Walk: in.Walk(), StopAt: unexpected, Store: store})
}

// Failures are the violations of a run that its scenario does not expect, as far
// as they were found together with the first of them.
func Failures(s *scenarios.Scenario, rep *reports.Report) []*model.Violation {
	var out []*model.Violation
	for i := range rep.Violations {
		v := &rep.Violations[i]
		switch {
		case expected(s, v):
		case len(out) == 0 || v.Step < out[0].Step:
			out = []*model.Violation{v}
		case v.Step == out[0].Step && !slices.ContainsFunc(out, func(o *model.Violation) bool { return o.Invariant == v.Invariant }):
			out = append(out, v)
		}
	}
	return out
}

func expected(s *scenarios.Scenario, v *model.Violation) bool {
	e := s.Doc.Spec.Expect
	return e != nil && (slices.Contains(e.Violations, v.Invariant) || slices.Contains(e.May, v.Invariant))
}
