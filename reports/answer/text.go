package answer

import (
	"fmt"
	"io"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
)

const (
	textWidth  = 100 // columns of a terminal
	textName   = 38  // of these for the name of a row
	textAdvice = 8   // recommendations, if there are several
)

// Text tells people on a terminal: what to choose, the table, and what else they
// must know. It is made for 100 columns.
func (a *Answer) Text(w io.Writer) error {
	var b strings.Builder
	if a.Stopped {
		b.WriteString("Stopped before all points were done: this is of those that are.\n\n")
	}
	for i, r := range a.Recommended {
		if i == textAdvice {
			fmt.Fprintf(&b, "%d more recommendations are in answer.json.\n", len(a.Recommended)-i)
			break
		}
		b.WriteString(wrapped(r.Text) + "\n")
	}
	b.WriteString("\n")
	differ, same := a.columns()
	for from := 0; from == 0 || from < len(differ); {
		to := a.fitting(differ, from)
		b.WriteString(a.textTable(differ[from:to], from == 0) + "\n\n")
		if from = to; to == 0 {
			break
		}
	}
	for _, s := range []string{a.legend(), same} {
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

// remarks are what was refused, and what an import could not know.
func (a *Answer) remarks() (out []string) {
	for i := range a.Rows {
		r := &a.Rows[i]
		if len(r.Refused) > 0 {
			out = append(out, fmt.Sprintf("%s: %d of %s; others were refused: %s", quoted(r.Name), r.Lives, plural(a.Repeats, "life"), strings.Join(some(r.Refused, told), "; ")))
		}
	}
	if n := len(a.Unknown); n > 0 {
		out = append(out, "The import could not know: "+strings.Join(some(a.Unknown, told), "; "))
	}
	return out
}

// fitting is up to which column a table is no wider than a terminal.
func (a *Answer) fitting(all []column, from int) int {
	width := 2
	for i := range a.Rows {
		width = max(width, text.StringWidth(cut(a.Rows[i].Name, textName))+2)
	}
	if from == 0 && len(a.Require) > 0 {
		width += len(" too few ")
	}
	to := from
	for ; to < len(all); to++ {
		w := 0
		for _, s := range append(strings.Split(all[to].head, "\n"), all[to].cells...) {
			w = max(w, text.StringWidth(s))
		}
		if width += w + 2; width > textWidth && to > from {
			break
		}
	}
	return to
}

func (a *Answer) textTable(columns []column, first bool) string {
	t := table.NewWriter()
	s := table.StyleDefault
	s.Options = table.OptionsNoBordersAndSeparators
	s.Format.Header = text.FormatDefault
	t.SetStyle(s)
	meets := first && len(a.Require) > 0
	head := table.Row{""}
	if meets {
		head = append(head, "meets")
	}
	for _, c := range columns {
		head = append(head, c.head)
	}
	t.AppendHeader(head)
	var right []table.ColumnConfig
	for i := 2; i <= len(head); i++ {
		if i > 2 || !meets {
			right = append(right, table.ColumnConfig{Number: i, Align: text.AlignRight, AlignHeader: text.AlignRight, VAlignHeader: text.VAlignBottom})
		}
	}
	t.SetColumnConfigs(right)
	for n := range a.Rows {
		mark := "  "
		if a.recommended(n) {
			mark = "> "
		}
		row := table.Row{mark + cut(a.Rows[n].Name, textName)}
		if meets {
			row = append(row, a.Rows[n].meets())
		}
		for _, c := range columns {
			row = append(row, c.cells[n])
		}
		t.AppendRow(row)
	}
	lines := strings.Split(t.Render(), "\n")
	for i, l := range lines {
		lines[i] = strings.TrimRight(strings.TrimPrefix(l, " "), " ")
	}
	return strings.Join(lines, "\n")
}

// wrapped is prose in lines of a terminal's width.
func wrapped(s string) string {
	lines := strings.Split(text.WrapSoft(s, textWidth), "\n")
	for i, l := range lines {
		lines[i] = strings.TrimRight(l, " ")
	}
	return strings.Join(lines, "\n")
}
