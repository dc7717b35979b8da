package mutants

import (
	"fmt"
	"strings"

	"ipamsim/reports/answer"
	"ipamsim/reports/table"
)

// gapsMax is how many functions without a run are named.
const gapsMax = 25

// Markdown is a section of the report on one manager's mutants. reasons are by keys.
func (s *Score) Markdown(reasons map[string]string) string {
	var b strings.Builder
	a := s.All
	fmt.Fprintf(&b, "## %s\n\n%s, measured %s, %d scenarios", s.Manager, s.Upstream, s.Date, s.Scenarios)
	if s.Steps > 0 {
		fmt.Fprintf(&b, " (those of more than %d steps were left out)", s.Steps)
	}
	fmt.Fprintf(&b, "; mutants of %s.\n\n", strings.Join(s.Packages, ", "))
	reached := a.Mutants - a.Unreached
	fmt.Fprintf(&b, "%d mutants. %d are unreached: no scenario comes to them. Of the other %d, ", a.Mutants, a.Unreached, reached)
	if a.Sampled == reached {
		b.WriteString("all were gated")
	} else {
		fmt.Fprintf(&b, "%d were gated, drawn at random (seed %d)", a.Sampled, s.Seed)
	}
	fmt.Fprintf(&b, ": %d killed, %d survived, %d the same in every run, %d not judged.\n\n", a.Killed, a.Survived, a.Same, a.Unknown)
	if a.Killed+a.Survived > 0 {
		b.WriteString(a.bold("change behaviour in a run"))
	}
	if n := a.Killed + a.Survived + a.Same; n > 0 {
		fmt.Fprintf(&b, "Of all that are reached and were judged: %s (%d of %d).\n", percent(a.Killed, n), a.Killed, n)
	}
	b.WriteString("\n" + s.operators().Markdown() + "\n")
	s.left(&b, Survived, "Survivors", reasons)
	s.left(&b, Unknown, "Not judged", reasons)
	s.left(&b, Same, "The same in every run", reasons)
	s.gaps(&b)
	return b.String()
}

func percent(k, n int) string { return share(float64(k) / float64(n)) }

func share(x float64) string { return fmt.Sprintf("%.0f %%", 100*x) }

// score is how many are killed of those that were killed or survived; "" if none was.
func (t *Tally) score() string {
	if n := t.Killed + t.Survived; n > 0 {
		return percent(t.Killed, n)
	}
	return ""
}

// bold is the score as a line with its band; of are the mutants that it is of: those that …
func (t *Tally) bold(of string) string {
	n := t.Killed + t.Survived
	low, high := answer.Chance(t.Killed, n)
	return fmt.Sprintf("**Score: %s of the mutants that %s are killed** (%d of %d; 95%% band %s to %s).\n", t.score(), of, t.Killed, n, share(low), share(high))
}

// cells say where a mutant is, and what it is.
func (m *Mutant) cells() []table.Cell {
	to := m.To
	if to == "" {
		to = "(left out)"
	}
	return []table.Cell{{Text: fmt.Sprintf("%s:%d", m.File, m.Line), Style: table.Code}, {Text: m.Func, Style: table.Code}, {Text: string(m.Operator)},
		{Text: m.From, Style: table.Code}, {Text: to, Style: table.Code}}
}

// operators is a row for each operator.
func (s *Score) operators() *table.Table {
	t := table.New("operator", "mutants", "unreached", "gated", "killed", "survived", "the same", "not judged", "score")
	for i := range t.Columns[1:] {
		t.Columns[i+1].Right = true
	}
	for _, o := range s.Operators {
		t.Add(string(o.Operator), fmt.Sprint(o.Mutants), fmt.Sprint(o.Unreached), fmt.Sprint(o.Sampled), fmt.Sprint(o.Killed), fmt.Sprint(o.Survived), fmt.Sprint(o.Same), fmt.Sprint(o.Unknown), o.score())
	}
	return t
}

// left lists the mutants of one verdict.
func (s *Score) left(b *strings.Builder, v Verdict, head string, reasons map[string]string) {
	t := table.New("place", "function", "operator", "from", "to", "scenarios", "runs moved", "why")
	for i := range s.Left {
		l := &s.Left[i]
		if l.Verdict != v {
			continue
		}
		t.Rows = append(t.Rows, append(l.cells(), table.Cell{Text: fmt.Sprint(l.Scenarios)}, table.Cell{Text: fmt.Sprintf("%d of %d", l.Moved, l.Runs)}, table.Cell{Text: reasons[l.Key()]}))
	}
	if len(t.Rows) > 0 {
		fmt.Fprintf(b, "\n### %s: %s (%d)\n\n%s\n", s.Manager, head, len(t.Rows), t.Markdown())
	}
}

// gaps names the functions with the most mutants that no scenario comes to.
func (s *Score) gaps(b *strings.Builder) {
	if len(s.Gaps) == 0 {
		return
	}
	t := table.New("function", "file", "unreached", "of its mutants")
	n := 0
	for _, g := range s.Gaps[:min(len(s.Gaps), gapsMax)] {
		t.Rows = append(t.Rows, []table.Cell{{Text: g.Func, Style: table.Code}, {Text: g.File, Style: table.Code}, {Text: fmt.Sprint(g.Unreached)}, {Text: fmt.Sprint(g.Mutants)}})
		n += g.Unreached
	}
	fmt.Fprintf(b, "\n### %s: unreached\n\nThe %d functions with the most (%d of %d):\n\n%s\n", s.Manager, len(t.Rows), n, s.All.Unreached, t.Markdown())
}
