package answer

import (
	"math"
	"slices"
	"strings"
)

// column of a table of rows, as text. One without a measure says which row it is.
type column struct {
	measure *Measure
	head    string
	cells   []string
}

// leads are the columns that name a row: its option, and the value of each axis.
func (a *Answer) leads() (out []column) {
	add := func(head string, cell func(r *Row) string) {
		c := column{head: head}
		for n := range a.Rows {
			c.cells = append(c.cells, cell(&a.Rows[n]))
		}
		out = append(out, c)
	}
	for i := range a.Rows {
		if a.Rows[i].Option != "" {
			add("option", func(r *Row) string { return r.Option })
			break
		}
	}
	for i, x := range a.Axes {
		add(x.Setting, func(r *Row) string { return r.Values[i] })
	}
	if len(out) == 0 {
		add("", func(r *Row) string { return r.Name })
	}
	return out
}

// columns are the measures that tell rows apart. What is the same in every row is
// in words instead: first what is not zero, then what is. On a terminal, what is for
// files is left out.
func (a *Answer) columns(terminal bool) (differ []column, same string) {
	var equal, zero []string
	for i := range a.Measures {
		m := &a.Measures[i]
		if terminal && m.fine {
			continue
		}
		c := column{measure: m, head: m.head}
		for n := range a.Rows {
			c.cells = append(c.cells, a.cell(m, &a.Rows[n]))
		}
		first := c.cells[0]
		switch {
		case len(a.Rows) == 1 || slices.ContainsFunc(c.cells, func(s string) bool { return s != first }):
			differ = append(differ, c)
		case first == "0":
			zero = append(zero, m.noun())
		default:
			equal = append(equal, m.noun()+" "+first)
		}
	}
	var s []string
	if len(equal) > 0 {
		s = append(s, "The same in every row: "+strings.Join(equal, ", ")+".")
	}
	if len(zero) > 0 {
		s = append(s, "0 in every row: "+strings.Join(zero, ", ")+".")
	}
	return differ, strings.Join(s, " ")
}

// cell is what a measure is in a row: with the band of a chance, and the quartiles
// of a time.
func (a *Answer) cell(m *Measure, r *Row) string {
	f, ok := r.Figures[m.Name]
	if !ok {
		return "–"
	}
	s := a.say(m.Unit, float64(f.Value))
	if m.Over == OverMean || a.narrow(m, f) == "" {
		return s
	}
	return s + " (" + strings.TrimSuffix(strings.TrimSuffix(a.narrow(m, f), "%"), " d") + ")"
}

// narrow is the band of a figure in a column: "49.7–69.7%"; "" if it has none that
// could be seen.
func (a *Answer) narrow(m *Measure, f Figure) string {
	low, high := a.say(m.Unit, float64(f.Low)), a.say(m.Unit, float64(f.High))
	if math.IsNaN(float64(f.Low)) || low == high {
		return ""
	}
	return strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(low, "%"), " d"), " ms") + "–" + high
}

// meets is whether a row meets what is asked, in a word.
func (r *Row) meets() string {
	switch r.outcome() {
	case Meets:
		return "yes"
	case Breaks:
		return "no"
	case TooFew:
		return "too few"
	}
	return "–"
}

// recommended reports whether a row is the best of its group.
func (a *Answer) recommended(n int) bool {
	return slices.ContainsFunc(a.Recommended, func(r Recommendation) bool { return len(r.Rows) > 0 && r.Rows[0] == n })
}

// legend says what the numbers of the table are.
func (a *Answer) legend() string {
	s := "Means over " + plural(a.Repeats, "life")
	if a.measure("exhaustion") != nil {
		s += "; a chance with its band of 95%, a time with its quartiles"
	}
	if a.Agreement != nil && a.measure("addMedian") != nil {
		s += "; calls, the time of an ADD and violations are of the " + plural(a.Agreement.Lives, "life") + " that the real code lived, too"
	}
	return s + "."
}
