package render

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"ipamsim/reports"
	"ipamsim/reports/answer"
	"ipamsim/reports/answer/words"
)

// column is a column of the table of rows. A column without a measure names the row, or has
// its verdict.
type column struct {
	measure *answer.Measure
	names   bool // names the row
	head    string
	cells   []string
}

// leads returns the columns that name a row: its option and the value of each axis.
func (a *Answer) leads() (out []column) {
	add := func(head string, cell func(r *answer.Row) string) {
		c := column{head: head, names: true}
		for n := range a.Rows {
			c.cells = append(c.cells, cell(&a.Rows[n]))
		}
		out = append(out, c)
	}
	for i := range a.Rows {
		if a.Rows[i].Option != "" {
			add("option", func(r *answer.Row) string { return r.Option })
			break
		}
	}
	for i, x := range a.Axes {
		add(x.Setting, func(r *answer.Row) string { return r.Values[i] })
	}
	if len(out) == 0 {
		add("", func(r *answer.Row) string { return r.Name })
	}
	return out
}

// outcomes appends the column "meets" to the leads if the plan has requirements.
func (a *Answer) outcomes(leads []column) []column {
	if len(a.Require) == 0 {
		return leads
	}
	c := column{head: "meets"}
	for n := range a.Rows {
		c.cells = append(c.cells, met(&a.Rows[n]))
	}
	return append(leads, c)
}

// columns returns the measures that differ between rows. same is a sentence about the others.
// brief omits measures that are for files only.
func (a *Answer) columns(brief bool) (differ []column, same string) {
	var equal, zero []string
	for i := range a.Measures {
		m := &a.Measures[i]
		if brief && m.Fine || a.seldom(m) {
			continue
		}
		c := column{measure: m, head: m.Head}
		for n := range a.Rows {
			c.cells = append(c.cells, a.cell(m, &a.Rows[n]))
		}
		first := c.cells[0]
		switch {
		case len(a.Rows) == 1 || slices.ContainsFunc(c.cells, func(s string) bool { return s != first }):
			differ = append(differ, c)
		case first == "0":
			zero = append(zero, m.Noun())
		default:
			equal = append(equal, m.Noun()+" "+first)
		}
	}
	var s []string
	if len(equal) > 0 {
		s = append(s, "The same in every row: "+strings.Join(equal, ", ")+".")
	}
	if len(zero) > 0 {
		s = append(s, "0 in every row: "+strings.Join(zero, ", ")+".")
	}
	return differ, strings.Join(words.NonEmpty(append(s, a.realOnly())), " ")
}

// seldom reports whether only the real code measures m, and did not run all rows.
func (a *Answer) seldom(m *answer.Measure) bool {
	return m.Real && slices.ContainsFunc(a.Rows, func(r answer.Row) bool { _, ok := r.Figures[m.Name]; return !ok })
}

// realOnly renders the measures of the real code in the rows that it ran.
func (a *Answer) realOnly() string {
	var rows []string
	for n := range a.Rows {
		var parts []string
		for i := range a.Measures {
			m := &a.Measures[i]
			if f, ok := a.Rows[n].Figures[m.Name]; ok && a.seldom(m) {
				parts = append(parts, m.Column()+" "+a.Say(m.Unit, float64(f.Value)))
			}
		}
		if len(parts) > 0 {
			rows = append(rows, fmt.Sprintf("%s %s%s", words.Quoted(a.Rows[n].Name), words.List(parts), a.violated(n)))
		}
	}
	if len(rows) == 0 {
		return ""
	}
	return "With the real code: " + strings.Join(words.Some(rows, words.NamesMax), "; ") + "."
}

// violated lists the invariants that the real code violated in a row's trials.
func (a *Answer) violated(n int) string {
	sum := map[string]int{}
	for _, l := range a.Question.Cells[n].Real {
		if l != nil {
			for name, k := range l.Violations {
				sum[name] += k
			}
		}
	}
	var out []string
	for _, name := range slices.Sorted(maps.Keys(sum)) {
		out = append(out, fmt.Sprintf("%s %s", reports.Clean(name), words.Short(float64(sum[name]))))
	}
	if len(out) == 0 {
		return ""
	}
	return " (" + strings.Join(words.Some(out, words.NamesMax), ", ") + ")"
}

// cell renders a row's value of a measure, with the band of a chance or the quartiles of a
// time.
func (a *Answer) cell(m *answer.Measure, r *answer.Row) string {
	f, ok := r.Figures[m.Name]
	if !ok {
		return "–"
	}
	s := a.Say(m.Unit, float64(f.Value))
	if m.Over == answer.OverMean || a.narrow(m, f) == "" {
		return s
	}
	return s + " (" + strings.TrimSuffix(strings.TrimSuffix(a.narrow(m, f), "%"), " d") + ")"
}

// narrow renders the band of a figure for a column, "49.7–69.7%", or "" if it has no visible
// width.
func (a *Answer) narrow(m *answer.Measure, f answer.Figure) string {
	low, high := a.Say(m.Unit, float64(f.Low)), a.Say(m.Unit, float64(f.High))
	if math.IsNaN(float64(f.Low)) || low == high {
		return ""
	}
	return strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(low, "%"), " d"), " ms") + "–" + high
}

// met renders whether a row meets the requirements.
func met(r *answer.Row) string {
	switch r.Outcome() {
	case answer.Meets:
		return "yes"
	case answer.Breaks:
		return "no"
	case answer.TooFew:
		return "too few"
	}
	return "–"
}

// legend explains the numbers of the table.
func (a *Answer) legend(differ []column) string {
	trials, engine := 0, ""
	for i := range a.Rows {
		trials, engine = trials+a.Rows[i].Trials, cmp.Or(engine, a.Rows[i].Engine)
	}
	by := map[string]string{answer.RealCode: " of the real code"}[engine]
	if engine == answer.Reference {
		by = " of the reference allocators"
	}
	s := fmt.Sprintf("%s, %s for each row unless refused. Each trial draws its own events over %s d; repeat N has the same events in every row.",
		words.Plural(trials, "trial")+by, words.Short(float64(a.Repeats)), words.Short(float64(a.HorizonDays)))
	if trials == len(a.Rows)*a.Repeats {
		s = fmt.Sprintf("%s × %s = %s. Each trial draws its own events over %s d; repeat N has the same events in every row.",
			words.Plural(len(a.Rows), "row"), words.Plural(a.Repeats, "repeat"), words.Plural(trials, "trial")+by, words.Short(float64(a.HorizonDays)))
	}
	s += " Numbers are means over trials"
	for _, w := range []struct {
		when answer.When
		what string
	}{{answer.AtWorst, ", of the maximum over time: "}, {answer.OnAverage, "; of the mean over time: "}} {
		var names []string
		for _, c := range differ {
			if c.measure.When == w.when {
				names = append(names, c.measure.Column())
			}
		}
		if len(names) > 0 {
			s += w.what + words.List(names)
		}
	}
	s += "."
	if a.Measure("exhaustion") != nil {
		s += " A probability has a band of 95%; a time is the median with its quartiles."
	}
	if m := a.Measure("addMedian"); a.Agreement != nil && m != nil && !a.seldom(m) {
		s += " Calls, the time of an ADD and violations are from the " + words.Plural(a.Agreement.Trials, "trial") + " that the real code also ran."
	}
	return s
}
