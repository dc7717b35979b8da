package baseline

import (
	"fmt"
	"html"
	"io"
	"strings"

	"ipamsim/reports"
	"ipamsim/reports/layout"
	"ipamsim/reports/table"
)

// Bounds of a job's summary. GitHub refuses one of more than 1 MiB as a whole, so
// what does not fit is left out here, and said to be; GitHub counts all that the
// steps before this one wrote, hence the distance.
const (
	markdownMax         = 900 << 10 // bytes
	markdownRowsMax     = 200       // of the table
	markdownTextMax     = 200       // runes of a cell, a name
	markdownSentenceMax = 2000      // runes of a sentence, a command
	markdownTimelineMax = 20 << 10  // bytes
)

// Markdown writes an outcome as GitHub-flavoured Markdown, for a job's
// summary: the verdict, a table of what moved, for each scenario in it the
// sentences, commands and timelines, folded up, and the versions. It is at most 900
// KiB long.
//
// Nothing of a scenario can become markup: what is outside of HTML is made of letters
// and entities.
//
// Source: GitHub Flavored Markdown Spec 0.29, HTML blocks and entities.
func Markdown(w io.Writer, o *Outcome) error {
	parts := []string{"## ipamsim gate: " + o.Verdict() + "\n"}
	if t, left := o.changes(markdownRowsMax, (*Change).markdownMark); len(t.Rows) > 0 {
		parts = append(parts, bounded(t).Markdown()+"\n")
		if left > 0 {
			parts = append(parts, fmt.Sprintf("and %d more\n", left))
		}
	}
	end := versionTable(o) + o.totals() + "\n"
	room := markdownMax - len(end)
	for _, p := range parts {
		room -= len(p) + 1
	}
	left := 0
	for i := range o.Rows {
		switch p := details(&o.Rows[i]); {
		case p == "":
		case len(p)+200 > room: // keeps the line about what is left out
			left++
		default:
			room -= len(p) + 1
			parts = append(parts, p)
		}
	}
	if left > 0 {
		parts = append(parts, fmt.Sprintf("The details of %s do not fit here: they are in the other reports.\n", layout.Plural(left, "scenario")))
	}
	_, err := io.WriteString(w, strings.Join(append(parts, end), "\n"))
	return err
}

func (c *Change) markdownMark() table.Cell {
	switch {
	case c.Regression && !c.Kind.proves():
		return table.Cell{Text: "unknown", Style: table.Strong}
	case c.Kind == ChangedViolation:
		return table.Cell{Text: "look", Style: table.Strong}
	case c.Regression:
		return table.Cell{Text: "worse", Style: table.Strong}
	case c.Kind == FixedViolation:
		return table.Cell{Text: "fixed"}
	}
	return table.Cell{Text: "moved"}
}

func versionTable(o *Outcome) string {
	if len(o.Versions) == 0 {
		return ""
	}
	t := table.New("address manager", "before", "now")
	for _, v := range o.Versions {
		t.Rows = append(t.Rows, []table.Cell{{Text: v.Manager}, {Text: v.Before, Style: table.Code}, {Text: v.Now, Style: table.Code}})
	}
	return bounded(t).Markdown() + "\n\n"
}

// bounded is the table with cells that are not too long for a summary.
func bounded(t *table.Table) *table.Table {
	for _, r := range t.Rows {
		for i := range r {
			r[i].Text = cut(strings.TrimSpace(reports.Clean(r[i].Text)), markdownTextMax)
		}
	}
	return t
}

// details is a row with all that is known of its changes, folded up; empty if
// nothing changed. It is HTML, in which Markdown looks for nothing; a block of it
// ends at an empty line, and one of <pre> at its end.
func details(r *Row) string {
	g := r.gravest()
	if g == nil {
		return ""
	}
	plain := func(s string) string { return html.EscapeString(cut(reports.Clean(s), markdownSentenceMax)) }
	var b strings.Builder
	fmt.Fprintf(&b, "<details><summary><code>%s</code>: %s</summary>\n", plain(r.Scenario), plain(g.Words()))
	for i := range r.Changes {
		c := &r.Changes[i]
		words := plain(c.Words())
		if m := c.moved(); m != "" {
			words += ": " + plain(m)
		}
		fmt.Fprintf(&b, "<p><b>%s</b><br>\n%s</p>\n", words, plain(c.Sentence))
		if c.Command != "" {
			fmt.Fprintf(&b, "\n<pre>%s</pre>\n", plain(c.Command))
		}
		if c.Timeline != "" {
			fmt.Fprintf(&b, "\n<pre>\n%s\n</pre>\n", html.EscapeString(head(cleanLines(head(c.Timeline)))))
		}
	}
	b.WriteString("\n</details>\n")
	return b.String()
}

func cut(s string, runes int) string {
	if r := []rune(s); len(r) > runes {
		return string(r[:runes-1]) + "…"
	}
	return s
}

// head is the beginning of a timeline, in whole lines where it must be cut.
func head(s string) string {
	if len(s) <= markdownTimelineMax {
		return s
	}
	s = strings.ToValidUTF8(s[:markdownTimelineMax], "")
	if i := strings.LastIndexByte(s, '\n'); i > 0 {
		s = s[:i]
	}
	return s + "\n…"
}
