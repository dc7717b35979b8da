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

// Bounds of a job's summary. GitHub rejects a summary of more than 1 MiB, so the report omits
// what does not fit, with a note. The limit includes the output of earlier steps, hence the
// margin.
const (
	markdownMax         = 900 << 10 // bytes
	markdownRowsMax     = 200       // of the table
	markdownTextMax     = 200       // runes of a cell, a name
	markdownSentenceMax = 2000      // runes of a sentence, a command
	markdownTimelineMax = 20 << 10  // bytes
)

// Markdown writes an outcome as GitHub-flavoured Markdown for a job's summary: the verdict, a
// table of changes, collapsed details of each scenario with sentences, commands and timelines,
// and the versions. It is at most 900 KiB long.
//
// Texts of a scenario are escaped as entities and cannot become markup.
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
		case len(p)+200 > room: // reserves the line about omitted details
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
		return table.Cell{Text: "review", Style: table.Strong}
	case c.Regression:
		return table.Cell{Text: "worse", Style: table.Strong}
	case c.Kind == FixedViolation:
		return table.Cell{Text: "fixed"}
	}
	return table.Cell{Text: "changed"}
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

// bounded shortens the cells of a table for a summary.
func bounded(t *table.Table) *table.Table {
	for _, r := range t.Rows {
		for i := range r {
			r[i].Text = cut(strings.TrimSpace(reports.Clean(r[i].Text)), markdownTextMax)
		}
	}
	return t
}

// details renders a row's changes as a collapsed HTML block, "" if nothing changed. Markdown
// does not interpret HTML blocks; one ends at an empty line, and one of <pre> at its end tag.
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

// head shortens a timeline to whole lines.
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
