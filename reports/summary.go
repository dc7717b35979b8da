package reports

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"ipamsim/reports/layout"
)

// Summary counts runs as they end. The zero value is ready; it keeps no report.
type Summary struct {
	Runs, AsExpected int
	Violations       int
	byScenario       map[string]*tally
}

// tally is what the runs of one scenario came to.
type tally struct {
	name                  string
	runs                  int
	pass, fail, unknown   int
	steps                 int
	wall                  time.Duration
	violated              map[string]*hits
	unexpected, shortfall int
}

// hits is how often an invariant was violated, and where it was first.
type hits struct {
	invariant string
	runs      int
	first     uint64
}

// Add counts a run.
func (s *Summary) Add(r *Report) {
	if s.byScenario == nil {
		s.byScenario = map[string]*tally{}
	}
	t := s.byScenario[r.Scenario]
	if t == nil {
		t = &tally{name: r.Scenario, violated: map[string]*hits{}}
		s.byScenario[r.Scenario] = t
	}
	s.Runs++
	s.Violations += len(r.Violations)
	if r.AsExpected() {
		s.AsExpected++
	}
	t.runs++
	t.steps += r.Steps()
	t.wall += r.Wall
	switch r.Verdict {
	case Pass:
		t.pass++
	case Fail:
		t.fail++
	default:
		t.unknown++
	}
	if len(r.Unexpected()) > 0 {
		t.unexpected++
	}
	if len(r.Missing()) > 0 {
		t.shortfall++
	}
	seen := map[string]bool{}
	for _, v := range r.Violations {
		if seen[v.Invariant] {
			continue
		}
		seen[v.Invariant] = true
		h := t.violated[v.Invariant]
		if h == nil {
			h = &hits{invariant: v.Invariant, first: r.Seed}
			t.violated[v.Invariant] = h
		}
		h.runs++
	}
}

// Table is the summary for people: a line for each scenario, and below it one
// for each invariant that was violated, with the first seed that shows it.
func (s *Summary) Table() string {
	width := len("scenario")
	names := slices.Sorted(maps.Keys(s.byScenario))
	for _, n := range names {
		width = max(width, min(len([]rune(Clean(n))), summaryNameMax))
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s %7s %7s %7s %8s %9s %9s\n", layout.Pad("scenario", width), "runs", "pass", "fail", "unknown", "steps/run", "runs/s")
	for _, n := range names {
		t := s.byScenario[n]
		fmt.Fprintf(&b, "%s %7d %7d %7d %8d %9d %9s\n", layout.Pad(layout.Cut(Clean(n), width), width),
			t.runs, t.pass, t.fail, t.unknown, t.steps/t.runs, rate(t.runs, t.wall))
		for _, h := range t.order() {
			fmt.Fprintf(&b, "  %-24s %s of %d, first with seed %d\n", h.invariant, layout.Plural(h.runs, "run"), t.runs, h.first)
		}
		if t.unexpected > 0 {
			fmt.Fprintf(&b, "  not expected by the scenario: in %s\n", layout.Plural(t.unexpected, "run"))
		}
		if t.shortfall > 0 {
			b.WriteString("  a violation that the scenario expects did not happen\n")
		}
	}
	return b.String()
}

// summaryNameMax cuts names that would push the numbers off the screen.
const summaryNameMax = 60

// order lists the invariants, the most frequent first.
func (t *tally) order() []*hits {
	return slices.SortedFunc(maps.Values(t.violated), func(a, b *hits) int {
		return cmp.Or(cmp.Compare(b.runs, a.runs), cmp.Compare(a.invariant, b.invariant))
	})
}

func rate(runs int, wall time.Duration) string {
	if wall <= 0 {
		return "-"
	}
	return fmt.Sprintf("%.1f", float64(runs)/wall.Seconds())
}
