package timeline

import (
	"strings"
	"unicode/utf8"

	"ipamsim/model"
	"ipamsim/reports"
	"ipamsim/reports/layout"
	"ipamsim/reports/prose"
)

// decides marks the messages whose order decides the violation. The timeline always shows
// them: by weight alone, a list that a process read once might be omitted.
func (s *subject) decides(r *reports.Report, all []*entry) {
	if len(s.races) == 0 {
		return
	}
	for _, e := range all {
		if e.sent == nil {
			continue
		}
		if e.races = model.MarksOf(s.races, e.step); len(e.races) == 0 {
			continue
		}
		if !e.judged {
			e.act, e.judged = r.Did(e.sent), true
		}
		e.weight = max(e.weight, fate+2)
	}
}

// marks renders an entry's parts in the races, "A read".
func (e *entry) marks() string {
	if len(e.races) == 0 {
		return ""
	}
	return spoken(prose.Marks(e.races))
}

// gutterOf returns the width of the column of the marks, 0 if there are none.
func gutterOf(entries []*entry) (width int) {
	for _, e := range entries {
		if n := utf8.RuneCountInString(e.marks()); n > 0 {
			width = max(width, n+2)
		}
	}
	return width
}

// swapped states the result of each race in the other order.
func (s *subject) swapped() (out []string) {
	for i := range s.races {
		for j, l := range layout.Wrap(spoken(prose.Race(i, &s.races[i])), layout.Width-6) {
			out = append(out, "   "+strings.Repeat("   ", min(j, 1))+l)
		}
	}
	return out
}
