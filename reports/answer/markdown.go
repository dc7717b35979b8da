package answer

import (
	"fmt"
	"io"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"ipamsim/reports"
)

// Markdown writes the recommendation and the table as GitHub-flavoured Markdown.
// Nothing of a plan can become markup.
func (a *Answer) Markdown(w io.Writer) error {
	var b strings.Builder
	title := a.Title
	if title == "" {
		title = a.Name
	}
	fmt.Fprintf(&b, "## %s\n\n", reports.Markdown(title))
	if a.Summary != "" {
		b.WriteString(reports.Markdown(a.Summary) + "\n\n")
	}
	for _, r := range a.Recommended {
		b.WriteString(reports.Markdown(r.sentences[0]) + "\n\n")
		for _, s := range r.sentences[1:] {
			b.WriteString("- " + reports.Markdown(s) + "\n")
		}
		if len(r.sentences) > 1 {
			b.WriteString("\n")
		}
	}
	leads := a.leads()
	differ, same := a.columns(false)
	t := table.NewWriter()
	head := table.Row{}
	for _, c := range leads {
		head = append(head, reports.Markdown(c.head))
	}
	if len(a.Require) > 0 {
		head = append(head, "meets")
	}
	var right []table.ColumnConfig
	for _, c := range differ {
		head = append(head, strings.ReplaceAll(c.head, "\n", " "))
		right = append(right, table.ColumnConfig{Number: len(head), Align: text.AlignRight})
	}
	t.SetColumnConfigs(right)
	t.AppendHeader(head)
	for n := range a.Rows {
		row := table.Row{}
		for _, c := range leads {
			name := reports.Markdown(c.cells[n])
			if a.recommended(n) && name != "" {
				name = "**" + name + "**"
			}
			row = append(row, name)
		}
		if len(a.Require) > 0 {
			row = append(row, a.Rows[n].meets())
		}
		for _, c := range differ {
			row = append(row, c.cells[n])
		}
		t.AppendRow(row)
	}
	b.WriteString(t.RenderMarkdown() + "\n\n")
	b.WriteString(strings.TrimSpace(a.legend(differ)+" "+reports.Markdown(a.since())) + "\n")
	if same != "" {
		b.WriteString("\n" + same + "\n")
	}
	if a.Agreement != nil {
		b.WriteString("\n" + reports.Markdown(a.Agreement.Text) + "\n")
	}
	for _, s := range a.remarks() {
		b.WriteString("\n" + reports.Markdown(s) + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}
