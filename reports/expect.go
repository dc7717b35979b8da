package reports

import (
	"slices"

	"ipamsim/model"
)

// AsExpected reports whether the run ended as its scenario says it may. A run
// that proved nothing never does, whatever was expected of it.
func (r *Report) AsExpected() bool {
	return r.Verdict != Unknown && len(r.Unexpected()) == 0 && len(r.Missing()) == 0
}

// Unexpected are the names of the invariants that were violated although the
// scenario does not say so, sorted. A scenario that says nothing expects nothing.
func (r *Report) Unexpected() []string {
	var out []string
	for _, v := range r.Violations {
		if !slices.Contains(r.Expected, v.Invariant) && !slices.Contains(r.Allowed, v.Invariant) {
			out = append(out, v.Invariant)
		}
	}
	return sorted(out)
}

// Missing are the names of the invariants that were expected to be violated and
// were not, sorted. An expectation is about the scenario's own run: other seeds
// may well miss what it shows.
func (r *Report) Missing() []string {
	if !r.Exact {
		return nil
	}
	var out []string
	for _, name := range r.Expected {
		if !slices.ContainsFunc(r.Violations, func(v model.Violation) bool { return v.Invariant == name }) {
			out = append(out, name)
		}
	}
	return sorted(out)
}

// Gravest is the violation to show if only one can be: the first of the worst
// severity. Whatever led there is in its timeline. It is nil if there is none.
//
// A violation that was not expected comes before all that were: it is the news.
func (r *Report) Gravest() *model.Violation {
	unexpected := r.Unexpected()
	rank := func(v model.Violation) int {
		n := slices.Index([]model.Severity{model.Critical, model.Major, model.Minor}, v.Severity)
		if !slices.Contains(unexpected, v.Invariant) {
			n += 10
		}
		return n
	}
	best := -1
	for i, v := range r.Violations {
		if best < 0 || rank(v) < rank(r.Violations[best]) {
			best = i
		}
	}
	if best < 0 {
		return nil
	}
	return &r.Violations[best]
}

func sorted(names []string) []string {
	slices.Sort(names)
	return slices.Compact(names)
}
