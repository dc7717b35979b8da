package render

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"ipamsim/reports/table"
	"ipamsim/reports/visible"
)

// Markdown writes the recommendation and the table as GitHub-flavoured Markdown.
// It escapes all texts of the plan.
func (a *Answer) Markdown(w io.Writer) error {
	var b strings.Builder
	title := cmp.Or(a.Title, a.Name)
	fmt.Fprintf(&b, "## %s\n\n", visible.Markdown(title))
	if a.Summary != "" {
		b.WriteString(visible.Markdown(a.Summary) + "\n\n")
	}
	for _, r := range a.Recommended {
		b.WriteString(visible.Markdown(r.Sentences[0]) + "\n\n")
		for _, s := range r.Sentences[1:] {
			b.WriteString("- " + visible.Markdown(s) + "\n")
		}
		if len(r.Sentences) > 1 {
			b.WriteString("\n")
		}
	}
	leads := a.leads()
	differ, same := a.columns(false)
	t := &table.Table{}
	add := func(c column, right bool) {
		t.Columns = append(t.Columns, table.Column{Head: c.head, Right: right})
		for n := range a.Rows {
			if len(t.Columns) == 1 {
				t.Rows = append(t.Rows, nil)
			}
			x := table.Cell{Text: c.cells[n]}
			if c.names && a.Best(n) {
				x.Style = table.Strong
			}
			t.Rows[n] = append(t.Rows[n], x)
		}
	}
	for _, c := range a.outcomes(leads) {
		add(c, false)
	}
	for _, c := range differ {
		add(c, true)
	}
	b.WriteString(t.Markdown() + "\n\n")
	b.WriteString(strings.TrimSpace(a.legend(differ)+" "+visible.Markdown(a.Since())) + "\n")
	if same != "" {
		b.WriteString("\n" + same + "\n")
	}
	if a.Agreement != nil {
		b.WriteString("\n" + visible.Markdown(a.Agreement.Text) + "\n")
	}
	for _, s := range a.remarks() {
		b.WriteString("\n" + visible.Markdown(s) + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}
