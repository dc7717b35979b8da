package mutants

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"ipamsim/reports/answer"
	"ipamsim/reports/table"
)

// gapsMax is the number of functions with unreached mutants that the report lists for each manager.
const gapsMax = 5

// hole is the beginning of the reason for a mutant that needs a scenario or a test which is missing.
const hole = "a hole"

// Section is the score of one manager, with the reasons why mutants are not killed, by key.
type Section struct {
	Score
	Reasons map[string]string
}

// Markdown returns the report on the mutants of all managers.
func Markdown(all []Section) string {
	var b strings.Builder
	b.WriteString("## Scores\n\n" + scores(all).Markdown() + "\n\nMutants of:\n\n")
	for i := range all {
		fmt.Fprintf(&b, "- %s: %s", all[i].Manager, strings.Join(all[i].Packages, ", "))
		if all[i].Steps > 0 {
			fmt.Fprintf(&b, "; scenarios of more than %d steps are left out", all[i].Steps)
		}
		b.WriteString("\n")
	}
	fmt.Fprintf(&b, "\n## Operators\n\nAll managers together:\n\n%s\n\n## Not killed\n", operators(sum(all)).Markdown())
	for i := range all {
		if t := all[i].left(); len(t.Rows) > 0 {
			fmt.Fprintf(&b, "\n### %s\n\n%s\n", all[i].Manager, t.Markdown())
		}
	}
	t := table.New("manager", "function", "file", "unreached", "of its mutants")
	for i := range all {
		gaps(t, all[i].Gaps, table.Cell{Text: all[i].Manager})
	}
	fmt.Fprintf(&b, "\n## Unreached\n\nThe functions with the most unreached mutants, at most %d of each manager:\n\n%s\n",
		gapsMax, t.Markdown())
	return b.String()
}

// scores has a row for each manager.
func scores(all []Section) *table.Table {
	t := table.New("manager", "release", "measured", "seed", "scenarios", "mutants", "unreached", "gated", "killed",
		"survived", "the same", "not judged", "score", "95% band", "killed of all judged")
	right(t, 3)
	for i := range all {
		s, a := &all[i].Score, &all[i].All
		add(t, s.Manager, s.Upstream, s.Date, s.Seed, s.Scenarios, a.Mutants, a.Unreached, a.Sampled, a.Killed,
			a.Survived, a.Same, a.Unknown, a.score(), a.band(), percent(a.Killed, a.Killed+a.Survived+a.Same))
	}
	return t
}

// add appends a row of values.
func add(t *table.Table, values ...any) {
	var texts []string
	for _, v := range values {
		texts = append(texts, fmt.Sprint(v))
	}
	t.Add(texts...)
}

// right aligns the columns from the given one on, which hold numbers.
func right(t *table.Table, from int) {
	for i := range t.Columns[from:] {
		t.Columns[from+i].Right = true
	}
}

// percent returns k of n; "" if n is 0.
func percent(k, n int) string {
	if n == 0 {
		return ""
	}
	return share(float64(k) / float64(n))
}

func share(x float64) string { return fmt.Sprintf("%.0f %%", 100*x) }

// score is the share of killed mutants among those that were killed or survived.
func (t *Tally) score() string { return percent(t.Killed, t.Killed+t.Survived) }

// band is the confidence band of the score.
func (t *Tally) band() string {
	n := t.Killed + t.Survived
	if n == 0 {
		return ""
	}
	low, high := answer.Chance(t.Killed, n)
	return share(low) + " to " + share(high)
}

// sum adds the tallies of all managers, operator by operator.
func sum(all []Section) []Tally {
	out := make([]Tally, len(Operators))
	for i, op := range Operators {
		out[i].Operator = op
		for _, s := range all {
			for _, o := range s.Operators {
				if o.Operator == op {
					out[i].addAll(&o)
				}
			}
		}
	}
	return out
}

func (t *Tally) addAll(o *Tally) {
	t.Mutants, t.Unreached, t.Sampled = t.Mutants+o.Mutants, t.Unreached+o.Unreached, t.Sampled+o.Sampled
	t.Killed, t.Survived, t.Same, t.Unknown = t.Killed+o.Killed, t.Survived+o.Survived, t.Same+o.Same, t.Unknown+o.Unknown
}

// operators has a row for each operator.
func operators(of []Tally) *table.Table {
	t := table.New("operator", "mutants", "unreached", "gated", "killed", "survived", "the same", "not judged", "score")
	right(t, 1)
	for i := range of {
		o := &of[i]
		add(t, o.Operator, o.Mutants, o.Unreached, o.Sampled, o.Killed, o.Survived, o.Same, o.Unknown, o.score())
	}
	return t
}

// cells returns the place of a mutant and its change.
func (m *Mutant) cells() []table.Cell {
	return []table.Cell{
		{Text: fmt.Sprintf("%s:%d", m.File, m.Line), Style: table.Code}, {Text: m.Func, Style: table.Code},
		{Text: string(m.Operator)}, {Text: m.From, Style: table.Code}, {Text: cmp.Or(m.To, "(left out)"), Style: table.Code},
	}
}

// left has a row for each mutant that survived or was not judged, and for each that changed no run
// because a scenario is missing.
func (s *Section) left() *table.Table {
	t := table.New("place", "function", "operator", "from", "to", "verdict", "scenarios", "runs moved", "why")
	for _, v := range []Verdict{Survived, Unknown, Same} {
		for i := range s.Left {
			l := &s.Left[i]
			why := s.Reasons[l.Key()]
			if l.Verdict != v || v == Same && !strings.HasPrefix(why, hole) {
				continue
			}
			t.Rows = append(t.Rows, append(l.cells(), table.Cell{Text: v.text()}, table.Cell{Text: fmt.Sprint(l.Scenarios)},
				table.Cell{Text: fmt.Sprintf("%d of %d", l.Moved, l.Runs)}, table.Cell{Text: why}))
		}
	}
	return t
}

// text returns the verdict in the words of the report.
func (v Verdict) text() string {
	switch v {
	case Same:
		return "the same"
	case Unknown:
		return "not judged"
	}
	return string(v)
}

// gaps adds the functions with the most unreached mutants, each after the given first cells.
func gaps(t *table.Table, all []Gap, first ...table.Cell) {
	for _, g := range all[:min(len(all), gapsMax)] {
		t.Rows = append(t.Rows, append(slices.Clone(first), table.Cell{Text: g.Func, Style: table.Code},
			table.Cell{Text: g.File, Style: table.Code}, table.Cell{Text: fmt.Sprint(g.Unreached)},
			table.Cell{Text: fmt.Sprint(g.Mutants)}))
	}
}
