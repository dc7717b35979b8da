package baseline

import (
	"fmt"
	"io"
	"strings"
	"time"

	"ipamsim/reports"
	"ipamsim/reports/layout"
	"ipamsim/reports/table"
)

// Text renders the outcome of a gate for a terminal: a line for each change, a sentence for
// each regression, a line of totals, and the versions.
func Text(w io.Writer, o *Outcome) error {
	var b strings.Builder
	if t, _ := o.changes(0, (*Change).textMark); len(t.Rows) > 0 {
		b.WriteString(t.Text() + "\n\n")
	}
	var worse strings.Builder
	for i := range o.Rows {
		r := &o.Rows[i]
		for j := range r.Changes {
			c := &r.Changes[j]
			if !c.Regression {
				continue
			}
			fmt.Fprintf(&worse, "%s: %s\n", reports.Clean(r.Scenario), reports.Clean(c.Sentence))
			if c.Command != "" {
				worse.WriteString("   " + reports.Clean(c.Command) + "\n")
			}
		}
	}
	if worse.Len() > 0 {
		b.WriteString(worse.String() + "\n")
	}
	b.WriteString(o.Verdict() + "; " + o.totals() + "\n")
	width := 0
	for _, v := range o.Versions {
		width = max(width, len(reports.Clean(v.Manager)))
	}
	for _, v := range o.Versions {
		before, now := reports.Clean(v.Before), reports.Clean(v.Now)
		if before == now {
			fmt.Fprintf(&b, "  %-*s  before and now %s\n", width, reports.Clean(v.Manager), now)
			continue
		}
		fmt.Fprintf(&b, "  %-*s  before %s\n  %-*s  now    %s\n", width, reports.Clean(v.Manager), before, width, "", now)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// changes returns a table of the first most changes (0: all); left counts the others.
func (o *Outcome) changes(most int, mark func(*Change) table.Cell) (t *table.Table, left int) {
	t = table.New("", "scenario", "what", "before", "now")
	for i := range o.Rows {
		r := &o.Rows[i]
		for j := range r.Changes {
			c := &r.Changes[j]
			if most > 0 && len(t.Rows) == most {
				left++
				continue
			}
			t.Rows = append(t.Rows, []table.Cell{mark(c), {Text: r.Scenario, Style: table.Code}, {Text: c.Words()}, {Text: c.Before}, {Text: c.After}})
		}
	}
	return t, left
}

func (c *Change) textMark() table.Cell {
	switch {
	case !c.Regression:
		return table.Cell{Text: "ok"}
	case !c.Kind.proves():
		return table.Cell{Text: "??"}
	case c.Kind == ChangedViolation:
		return table.Cell{Text: "REVIEW"}
	}
	return table.Cell{Text: "RED"}
}

// totals renders the totals of a gate.
func (o *Outcome) totals() string {
	out := layout.Plural(o.Runs, "run")
	if o.Searched > 0 {
		out += ", " + layout.Plural(o.Searched, "world") + " searched"
	}
	if o.Moved > 0 {
		out += fmt.Sprintf(", %d of them with other messages", o.Moved)
	}
	if o.Undecided > 0 {
		out += fmt.Sprintf(", %s too rare for a verdict", layout.Plural(o.Undecided, "violation"))
	}
	if t := o.Repeated.String(); t != "" {
		out += ", " + t
	}
	if o.Elapsed > 0 {
		out += ", " + o.Elapsed.Round(time.Second).String()
	}
	return out
}
