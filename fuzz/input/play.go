package input

import (
	"context"
	"slices"

	"ipamsim/model"
	"ipamsim/reports"
	"ipamsim/scenarios"
)

// Ends reports whether a violation ends the run, given the report so far.
type Ends func(*reports.Report, *model.Violation) bool

// AtFirst ends a run at the first violation.
func AtFirst(*reports.Report, *model.Violation) bool { return true }

// Play runs an input on a store of scenarios.Options. The run ends with the step of the first unexpected
// violation for which ends returns true: later violations may be consequences.
func (in Input) Play(ctx context.Context, r *scenarios.Runner, s *scenarios.Scenario, store string, ends Ends) (*reports.Report, error) {
	return Follow(ctx, r, s, scenarios.Options{Walk: in.Walk(), Store: store}, ends)
}

// Follow is Play for a scenario.
func Follow(ctx context.Context, r *scenarios.Runner, s *scenarios.Scenario, o scenarios.Options, ends Ends) (*reports.Report, error) {
	o.StopAt = func(rep *reports.Report, v *model.Violation) bool { return !expected(s, v) && ends(rep, v) }
	return r.Run(ctx, s, o)
}

// Failures returns the unexpected violations of a run that end it, as far as they were detected at the
// same step as the first one.
func Failures(s *scenarios.Scenario, rep *reports.Report, ends Ends) []*model.Violation {
	var out []*model.Violation
	for i := range rep.Violations {
		v := &rep.Violations[i]
		switch {
		case expected(s, v) || len(out) > 0 && v.Step > out[0].Step || !ends(rep, v):
		case len(out) == 0 || v.Step < out[0].Step:
			out = []*model.Violation{v}
		case !slices.ContainsFunc(out, func(o *model.Violation) bool { return o.Invariant == v.Invariant }):
			out = append(out, v)
		}
	}
	return out
}

// Others returns the unexpected violations of a run that do not end it, in their order.
func Others(s *scenarios.Scenario, rep *reports.Report, ends Ends) []*model.Violation {
	var out []*model.Violation
	for i := range rep.Violations {
		if v := &rep.Violations[i]; !expected(s, v) && !ends(rep, v) {
			out = append(out, v)
		}
	}
	return out
}

func expected(s *scenarios.Scenario, v *model.Violation) bool {
	e := s.Doc.Spec.Expect
	return e != nil && (slices.Contains(e.Violations, v.Invariant) || slices.Contains(e.May, v.Invariant))
}
