package diagnosis

import (
	"slices"

	"ipamsim/model"
)

// Style configures how findings are printed.
type Style struct {
	// All prints every finding of each invariant, not only the first few.
	All bool
	// Paint colours a text by a severity; nil: no colours.
	Paint func(model.Severity, string) string
	// Places returns the objects of the dump, each with its file and line; nil: they are not
	// printed.
	Places func([]model.Ref) []string
	// New reports whether a finding is new; nil: no finding is marked.
	New func(model.Identity) bool
}

// mark renders the severity of a finding, and whether it is new.
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

// newFirst returns findings with the new ones first.
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

// shown returns how many of n findings of one kind are printed. A single further one is
// printed, too: a line that announces it would not be shorter.
func (s Style) shown(n int) int {
	if s.All || n <= shownMax+1 {
		return n
	}
	return shownMax
}
