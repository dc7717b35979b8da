package reports

import (
	"slices"

	"ipamsim/model"
)

// AsExpected reports whether the run ended as its scenario says it may. A run
// that proved nothing never does, whatever was expected of it, nor one without what was to
// happen in it.
func (r *Report) AsExpected() bool {
	return r.Verdict != Unknown && len(r.Idle) == 0 && len(r.Unexpected()) == 0 && len(r.Missing()) == 0
}

// Unexpected are the names of the invariants that were violated although the
// scenario does not say so, sorted. A scenario that says nothing expects nothing.
func (r *Report) Unexpected() []string {
	var out []string
	for _, i := range r.News() {
		out = append(out, r.Violations[i].Invariant)
	}
	return sorted(out)
}

// News are the positions of the violations that were not expected: the scenario does
// not name their invariant, and they were not there before the run.
func (r *Report) News() (out []int) {
	known := model.Know(r.Found)
	for i := range r.Violations {
		v := &r.Violations[i]
		if !slices.Contains(r.Expected, v.Invariant) && !slices.Contains(r.Allowed, v.Invariant) && !known.Has(v) {
			out = append(out, i)
		}
	}
	return out
}

// Imported reports whether the run starts with an imported cluster, whose violations are known.
func (r *Report) Imported() bool { return r.Found != nil }

// Gone returns the violations of an imported cluster that are gone at the end of the run; none
// if the run did not finish.
func (r *Report) Gone() []model.Identity {
	if r.AtEnd == nil || r.Stopped || r.Verdict == Unknown {
		return nil
	}
	return model.Know(r.Found).Without(r.AtEnd)
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
	news := r.News()
	best, least := -1, 0
	for i := range r.Violations {
		rank := r.Violations[i].Severity.Rank()
		if _, isNew := slices.BinarySearch(news, i); !isNew {
			rank += 10
		}
		if best < 0 || rank < least {
			best, least = i, rank
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
