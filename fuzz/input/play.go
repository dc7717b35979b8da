package input

import (
	"context"
	"slices"

	"ipamsim/model"
	"ipamsim/reports"
	"ipamsim/scenarios"
)

// Ends says of a violation of a run, with the report so far, that nothing after it need
// be seen.
type Ends func(*reports.Report, *model.Violation) bool

// AtFirst ends a run with what is violated first.
func AtFirst(*reports.Report, *model.Violation) bool { return true }

// Play is the run of an input on a store of scenarios.Options. It ends with the step at
// which something is violated that the scenario does not expect and that ends it: what
// comes after may be a consequence, and is not judged.
func (in Input) Play(ctx context.Context, r *scenarios.Runner, s *scenarios.Scenario, store string, ends Ends) (*reports.Report, error) {
	return Follow(ctx, r, s, scenarios.Options{Walk: in.Walk(), Store: store}, ends)
}

// Follow is such a run of a scenario.
func Follow(ctx context.Context, r *scenarios.Runner, s *scenarios.Scenario, o scenarios.Options, ends Ends) (*reports.Report, error) {
	o.StopAt = func(rep *reports.Report, v *model.Violation) bool { return !expected(s, v) && ends(rep, v) }
	return r.Run(ctx, s, o)
}

// Failures are the violations of a run that its scenario does not expect and that end it,
// as far as they were found together with the first of them.
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

// Others are the violations of a run that its scenario does not expect and that do not
// end it, in their order.
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
