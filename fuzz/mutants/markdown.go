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
	if n := a.Killed + a.Survived; n > 0 {
		low, high := answer.Chance(a.Killed, n)
		fmt.Fprintf(&b, "**Score: %s of the mutants that change behaviour in a run are killed** (%d of %d; 95%% band %s to %s).\n", percent(a.Killed, n), a.Killed, n, share(low), share(high))
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

// operators is a row for each operator.
func (s *Score) operators() *table.Table {
	t := table.New("operator", "mutants", "unreached", "gated", "killed", "survived", "the same", "not judged", "score")
	for i := range t.Columns[1:] {
		t.Columns[i+1].Right = true
	}
	for _, o := range s.Operators {
		score := ""
		if n := o.Killed + o.Survived; n > 0 {
			score = percent(o.Killed, n)
		}
		t.Add(string(o.Operator), fmt.Sprint(o.Mutants), fmt.Sprint(o.Unreached), fmt.Sprint(o.Sampled), fmt.Sprint(o.Killed), fmt.Sprint(o.Survived), fmt.Sprint(o.Same), fmt.Sprint(o.Unknown), score)
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
		to := l.To
		if to == "" {
			to = "(left out)"
		}
		t.Rows = append(t.Rows, []table.Cell{{Text: fmt.Sprintf("%s:%d", l.File, l.Line), Style: table.Code}, {Text: l.Func, Style: table.Code}, {Text: string(l.Operator)},
			{Text: l.From, Style: table.Code}, {Text: to, Style: table.Code}, {Text: fmt.Sprint(l.Scenarios)}, {Text: fmt.Sprintf("%d of %d", l.Moved, l.Runs)}, {Text: reasons[l.Key()]}})
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
