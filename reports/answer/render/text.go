package render

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/text"

	"ipamsim/reports/answer"
	"ipamsim/reports/answer/words"
	"ipamsim/reports/table"
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
		b.WriteString(wrapped(r.Sentences[0]) + "\n")
		for _, s := range r.Sentences[1:] {
			b.WriteString(item(s) + "\n")
		}
	}
	differ, same := a.columns(true)
	for _, t := range a.textTables(differ) {
		b.WriteString("\n" + t + "\n")
	}
	b.WriteString("\n")
	if slices.ContainsFunc(a.Recommended, func(r answer.Recommendation) bool { return len(r.Rows) > 0 }) {
		b.WriteString("> is recommended.\n")
	}
	for _, s := range []string{a.legend(differ), a.Since(), same} {
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
	out := append(words.Some(a.Ways(func(n int) bool { return !a.Best(n) }), words.Told), a.refusals()...)
	if len(a.Unknown) > 0 {
		out = append(out, "The import could not know: "+strings.Join(words.Some(a.Unknown, words.Told), "; "))
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
			out = append(out, fmt.Sprintf("%s: %d of %s; others were refused: %s", words.Quoted(r.Name), r.Trials, words.Plural(a.Repeats, "trial"), strings.Join(words.Some(r.Refused, words.Told), "; ")))
		}
	}
	out = words.Some(out, textRefusals)
	if a.Question.Both && a.Agreement == nil && !a.Question.Stopped {
		out = append(out, alone)
	}
	return out
}

// textTables are the rows as tables no wider than a terminal, one below the other
// until all columns are told.
func (a *Answer) textTables(differ []column) (out []string) {
	leads := a.outcomes(a.leads())
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
		leads = a.leads() // whether a row meets what is required is told once
	}
	return out
}

func (c *column) width() (w int) {
	for _, s := range append(strings.Split(c.head, "\n"), c.cells...) {
		w = max(w, text.StringWidth(words.Cut(s, textCell)))
	}
	return w
}

func (a *Answer) textTable(leads, differ []column) string {
	t := &table.Table{Rows: make([][]table.Cell, len(a.Rows))}
	for i, c := range append(leads[:len(leads):len(leads)], differ...) {
		mark := ""
		if i == 0 {
			mark = "  "
		}
		t.Columns = append(t.Columns, table.Column{Head: mark + words.Cut(c.head, textCell), Right: i >= len(leads)})
		for n := range a.Rows {
			if i == 0 && a.Best(n) {
				mark = "> "
			} else if i == 0 {
				mark = "  "
			}
			t.Rows[n] = append(t.Rows[n], table.Cell{Text: mark + words.Cut(c.cells[n], textCell)})
		}
	}
	return t.Text()
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
