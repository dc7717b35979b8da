package reports

import (
	"maps"
	"slices"
	"strconv"

	"ipamsim/reports/layout"
	"ipamsim/reports/table"
)

// SideBySide compares scenarios that ran with the same number of seeds: a line a
// scenario, a column an invariant, in how many of its runs it was violated. It is
// "" for less than two scenarios, for one run of each, and if nothing was violated.
func (s *Summary) SideBySide() string {
	names := slices.Sorted(maps.Keys(s.byScenario))
	violated := map[string]bool{}
	for _, n := range names {
		if s.byScenario[n].runs != s.byScenario[names[0]].runs || s.byScenario[n].runs < 2 {
			return ""
		}
		for _, h := range s.byScenario[n].violated {
			violated[h.invariant] = true
		}
	}
	if len(names) < 2 || len(violated) == 0 {
		return ""
	}
	columns := slices.Sorted(maps.Keys(violated))
	out := table.New(append([]string{"scenario", "runs"}, columns...)...)
	for i := range out.Columns {
		out.Columns[i].Right = i > 0
	}
	for _, n := range names {
		t := s.byScenario[n]
		row := []string{layout.Cut(Clean(n), summaryNameMax), strconv.Itoa(t.runs)}
		for _, c := range columns {
			runs := 0
			if h := t.violated[c]; h != nil {
				runs = h.runs
			}
			row = append(row, strconv.Itoa(runs))
		}
		out.Add(row...)
	}
	return out.Text() + "\n"
}
