package baseline

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"

	"ipamsim/reports"
)

// Text tells people what came of a gate: what is different, a line each and a
// sentence for what is worse, then one line of totals, then the versions.
func Text(w io.Writer, o *Outcome) error {
	var b strings.Builder
	t := table.NewWriter()
	t.SetStyle(plain())
	t.AppendHeader(table.Row{"", "scenario", "what", "before", "now"})
	var worse strings.Builder
	for i := range o.Rows {
		r := &o.Rows[i]
		for j := range r.Changes {
			c := &r.Changes[j]
			mark := "ok"
			if c.Regression {
				mark = c.mark()
				fmt.Fprintf(&worse, "%s: %s\n", reports.Clean(r.Scenario), reports.Clean(c.Sentence))
				if c.Command != "" {
					worse.WriteString("   " + reports.Clean(c.Command) + "\n")
				}
			}
			t.AppendRow(table.Row{mark, reports.Clean(r.Scenario), c.Words(), reports.Clean(c.Before), reports.Clean(c.After)})
		}
	}
	if t.Length() > 0 {
		b.WriteString(t.Render() + "\n\n")
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

// mark of what is not green.
func (c *Change) mark() string {
	switch {
	case !c.Kind.proves():
		return "??"
	case c.Kind == ChangedViolation:
		return "LOOK"
	}
	return "RED"
}

// totals is what was done.
func (o *Outcome) totals() string {
	out := count(o.Runs, "run")
	if o.Searched > 0 {
		out += ", " + count(o.Searched, "world") + " searched"
	}
	if o.Moved > 0 {
		out += fmt.Sprintf(", %d of them on another course", o.Moved)
	}
	if o.Undecided > 0 {
		out += fmt.Sprintf(", %s too rare to tell", count(o.Undecided, "violation"))
	}
	if t := o.Repeated.String(); t != "" {
		out += ", " + t
	}
	if o.Elapsed > 0 {
		out += ", " + o.Elapsed.Round(time.Second).String()
	}
	return out
}

// plain is a table as other commands print theirs: columns and nothing else.
func plain() table.Style {
	s := table.StyleDefault
	s.Options = table.OptionsNoBordersAndSeparators
	return s
}
