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
	textCell   = 38  // maximum width of a cell
	textAdvice = 8   // maximum number of recommendations
	// textRefusals is the maximum number of rows whose refusals are listed.
	textRefusals = 20
)

// Text renders the answer for a terminal of 100 columns: the recommendation, the table, and
// remarks.
func (a *Answer) Text(w io.Writer) error {
	var b strings.Builder
	if a.Stopped {
		b.WriteString("Stopped early: the answer covers the points that ran.\n\n")
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

// remarks lists migrations, refusals and what the import could not determine, shortened for a
// terminal.
func (a *Answer) remarks() []string {
	out := append(words.Some(a.Ways(func(n int) bool { return !a.Best(n) }), words.NamesMax), a.refusals()...)
	if len(a.Unknown) > 0 {
		out = append(out, "The import could not determine: "+strings.Join(words.Some(a.Unknown, words.NamesMax), "; "))
	}
	return out
}

// alone is the remark of an answer for both engines if only one ran.
const alone = "No trial was small enough for the real code as well; --engine real runs all trials with it."

// refusals lists the rows with refused points and the reasons, and notes that the real code
// did not run.
func (a *Answer) refusals() (out []string) {
	for i := range a.Rows {
		if r := &a.Rows[i]; len(r.Refused) > 0 {
			out = append(out, fmt.Sprintf("%s: %d of %s ran; the others were refused: %s", words.Quoted(r.Name), r.Trials, words.Plural(a.Repeats, "trial"), strings.Join(words.Some(r.Refused, words.NamesMax), "; ")))
		}
	}
	out = words.Some(out, textRefusals)
	if a.Question.Both && a.Agreement == nil && !a.Question.Stopped {
		out = append(out, alone)
	}
	return out
}

// textTables splits the columns into tables no wider than a terminal.
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
		leads = a.leads() // only the first table has the column "meets"
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

// item renders a list item, wrapped to a terminal's width.
func item(s string) string {
	lines := strings.Split(text.WrapSoft(s, textWidth-2), "\n")
	for i, l := range lines {
		lines[i] = strings.TrimRight(l, " ")
	}
	return "- " + strings.Join(lines, "\n  ")
}

// wrapped wraps a text to a terminal's width.
func wrapped(s string) string {
	lines := strings.Split(text.WrapSoft(s, textWidth), "\n")
	for i, l := range lines {
		lines[i] = strings.TrimRight(l, " ")
	}
	return strings.Join(lines, "\n")
}
