package answer

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
)

const (
	textWidth  = 100 // columns of a terminal
	textCell   = 38  // of these for one cell
	textAdvice = 8   // recommendations, if there are several
	// textRefusals are rows of which it is told why points were refused.
	textRefusals = 20
)

// Text tells people on a terminal: what to choose, the table, and what else they
// must know. It is made for 100 columns.
func (a *Answer) Text(w io.Writer) error {
	var b strings.Builder
	if a.Stopped {
		b.WriteString("Stopped before all points were done: this is of those that are.\n\n")
	}
	if a.Summary != "" {
		b.WriteString(wrapped(a.Summary) + "\n\n")
	}
	for i, r := range a.Recommended {
		if i == textAdvice {
			fmt.Fprintf(&b, "%d more recommendations are in answer.json.\n", len(a.Recommended)-i)
			break
		}
		b.WriteString(wrapped(r.sentences[0]) + "\n")
		for _, s := range r.sentences[1:] {
			b.WriteString(item(s) + "\n")
		}
	}
	differ, same := a.columns(true)
	for _, t := range a.textTables(differ) {
		b.WriteString("\n" + t + "\n")
	}
	b.WriteString("\n")
	if slices.ContainsFunc(a.Recommended, func(r Recommendation) bool { return len(r.Rows) > 0 }) {
		b.WriteString("> is recommended.\n")
	}
	for _, s := range []string{a.legend(differ), a.since(), same} {
		if s != "" {
			b.WriteString(wrapped(s) + "\n")
		}
	}
	if a.Agreement != nil {
		b.WriteString(wrapped(a.Agreement.Text) + "\n")
	}
	for _, s := range a.remarks() {
		b.WriteString(wrapped(s) + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// remarks are what was refused, and what an import could not know, as far as a
// terminal has room for it.
func (a *Answer) remarks() []string {
	out := append(some(a.ways(func(n int) bool { return !a.recommended(n) }), told), a.refusals()...)
	if len(a.Unknown) > 0 {
		out = append(out, "The import could not know: "+strings.Join(some(a.Unknown, told), "; "))
	}
	return out
}

// alone is what an answer says of both engines where only one was used.
const alone = "No trial was short and calm enough for the real code beside the reference; --engine real has it run them all the same."

// refusals are rows of which points were refused, and why, and that the real code
// had none.
func (a *Answer) refusals() (out []string) {
	for i := range a.Rows {
		if r := &a.Rows[i]; len(r.Refused) > 0 {
			out = append(out, fmt.Sprintf("%s: %d of %s; others were refused: %s", quoted(r.Name), r.Lives, plural(a.Repeats, "trial"), strings.Join(some(r.Refused, told), "; ")))
		}
	}
	out = some(out, textRefusals)
	if a.plan.Both && a.Agreement == nil && !a.plan.Stopped {
		out = append(out, alone)
	}
	return out
}

// textTables are the rows as tables no wider than a terminal, one below the other
// until all columns are told.
func (a *Answer) textTables(differ []column) (out []string) {
	leads := a.leads()
	if len(a.Require) > 0 {
		c := column{head: "meets"}
		for n := range a.Rows {
			c.cells = append(c.cells, a.Rows[n].meets())
		}
		leads = append(leads, c)
	}
	for len(out) == 0 || len(differ) > 0 {
		width, n := 2, 0
		for _, c := range leads {
			width += c.width() + 2
		}
		for n < len(differ) {
			if width += differ[n].width() + 2; width > textWidth && n > 0 {
				break
			}
			n++
		}
		out = append(out, a.textTable(leads, differ[:n]))
		differ = differ[n:]
		if last := len(leads) - 1; len(a.Require) > 0 && leads[last].head == "meets" {
			leads = leads[:last] // once is enough
		}
	}
	return out
}

func (c *column) width() (w int) {
	for _, s := range append(strings.Split(c.head, "\n"), c.cells...) {
		w = max(w, text.StringWidth(cut(s, textCell)))
	}
	return w
}

func (a *Answer) textTable(leads, differ []column) string {
	t := table.NewWriter()
	s := table.StyleDefault
	s.Options = table.OptionsNoBordersAndSeparators
	s.Format.Header = text.FormatDefault
	t.SetStyle(s)
	head := table.Row{}
	var configs []table.ColumnConfig
	for i, c := range append(leads[:len(leads):len(leads)], differ...) {
		x := table.ColumnConfig{Number: i + 1, VAlignHeader: text.VAlignBottom}
		if i >= len(leads) {
			x.Align, x.AlignHeader = text.AlignRight, text.AlignRight
		}
		h := cut(c.head, textCell)
		if i == 0 {
			h = "  " + h
		}
		head, configs = append(head, h), append(configs, x)
	}
	t.SetColumnConfigs(configs)
	t.AppendHeader(head)
	for n := range a.Rows {
		mark := "  "
		if a.recommended(n) {
			mark = "> "
		}
		row := table.Row{mark + cut(leads[0].cells[n], textCell)}
		for _, c := range append(leads[1:len(leads):len(leads)], differ...) {
			row = append(row, cut(c.cells[n], textCell))
		}
		t.AppendRow(row)
	}
	lines := strings.Split(t.Render(), "\n")
	for i, l := range lines {
		lines[i] = strings.TrimRight(strings.TrimPrefix(l, " "), " ")
	}
	return strings.Join(lines, "\n")
}

// item of a list, in lines of a terminal's width.
func item(s string) string {
	lines := strings.Split(text.WrapSoft(s, textWidth-2), "\n")
	for i, l := range lines {
		lines[i] = strings.TrimRight(l, " ")
	}
	return "- " + strings.Join(lines, "\n  ")
}

// wrapped is prose in lines of a terminal's width.
func wrapped(s string) string {
	lines := strings.Split(text.WrapSoft(s, textWidth), "\n")
	for i, l := range lines {
		lines[i] = strings.TrimRight(l, " ")
	}
	return strings.Join(lines, "\n")
}
