package diagnosis

import (
	"slices"

	"ipamsim/model"
)

// Style is how findings are told to people. The zero value is for any reader.
type Style struct {
	// All: of each invariant every finding, not only the first few.
	All bool
	// Paint colours a text by a severity; nil: no colours.
	Paint func(model.Severity, string) string
	// Places are the objects of the dump that things are, each with its file and line; nil: they
	// are not reported.
	Places func([]model.Ref) []string
	// New reports whether a finding is news; nil: none is told to be.
	New func(model.Identity) bool
}

// mark is the severity of a finding, and whether it is new.
func (s Style) mark(v *model.Violation) string {
	text := string(v.Severity)
	if s.New != nil && s.New(v.Identity()) {
		text += ", new"
	}
	if s.Paint != nil {
		text = s.Paint(v.Severity, text)
	}
	return text
}

// newFirst are findings with those that are news before the others.
func (s Style) newFirst(all []Finding) []Finding {
	if s.New == nil {
		return all
	}
	all = slices.Clone(all)
	known := func(x *Finding) int {
		if s.New(x.Identity()) {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(all, func(a, b Finding) int { return known(&a) - known(&b) })
	return all
}

// shown is how many of n findings of one kind are told: one more is no shorter than
// saying that there is one.
func (s Style) shown(n int) int {
	if s.All || n <= shownMax+1 {
		return n
	}
	return shownMax
}
