// Package table is rows of text that are the same table on a terminal, in Markdown and
// in CSV. What stands in a cell may come from anybody: each form escapes all of it.
package table

import (
	"encoding/csv"
	"io"
	"strings"

	pretty "github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"ipamsim/reports/visible"
)

// Table has Rows of as many cells as it has Columns.
type Table struct {
	Columns []Column
	Rows    [][]Cell
}

// Column has a head, of several lines if it has line breaks.
type Column struct {
	Head  string
	Right bool // aligned, as numbers are
}

// Cell is one text. Style is for Markdown only.
type Cell struct {
	Text  string
	Style Style
}

// Style of a cell.
type Style int

// The styles.
const (
	Plain Style = iota
	Strong
	Code // where GitHub looks for no mentions
)

// New is a table with these heads, aligned to the left.
func New(heads ...string) *Table {
	t := &Table{}
	for _, h := range heads {
		t.Columns = append(t.Columns, Column{Head: h})
	}
	return t
}

// Add appends a row of plain texts.
func (t *Table) Add(texts ...string) {
	row := make([]Cell, len(texts))
	for i, s := range texts {
		row[i].Text = s
	}
	t.Rows = append(t.Rows, row)
}

// Text is the table for a terminal: two spaces between columns, nothing around them, and
// no space at the end of a line.
func (t *Table) Text() string {
	w := pretty.NewWriter()
	s := pretty.StyleDefault
	s.Options = pretty.OptionsNoBordersAndSeparators
	s.Format.Header = text.FormatDefault
	s.Box.PaddingLeft, s.Box.PaddingRight = "", "  "
	w.SetStyle(s)
	t.fill(w, func(h string) string { return visible.Text(h) }, func(c Cell) string { return visible.Line(c.Text) })
	lines := strings.Split(w.Render(), "\n")
	for i, l := range lines {
		lines[i] = strings.TrimRight(l, " ")
	}
	return strings.Join(lines, "\n")
}

// Markdown is the table as GitHub has it.
func (t *Table) Markdown() string {
	w := pretty.NewWriter()
	t.fill(w, func(h string) string { return visible.Markdown(strings.ReplaceAll(h, "\n", " ")) }, Cell.markdown)
	return w.RenderMarkdown()
}

func (c Cell) markdown() string {
	s := visible.Markdown(c.Text)
	switch {
	case s == "":
	case c.Style == Strong:
		s = "**" + s + "**"
	case c.Style == Code:
		s = "<code>" + s + "</code>"
	}
	return s
}

func (t *Table) fill(w pretty.Writer, head func(string) string, cell func(Cell) string) {
	heads, configs := pretty.Row{}, []pretty.ColumnConfig{}
	for i, c := range t.Columns {
		x := pretty.ColumnConfig{Number: i + 1, VAlignHeader: text.VAlignBottom}
		if c.Right {
			x.Align, x.AlignHeader = text.AlignRight, text.AlignRight
		}
		heads, configs = append(heads, head(c.Head)), append(configs, x)
	}
	w.SetColumnConfigs(configs)
	w.AppendHeader(heads)
	for _, r := range t.Rows {
		row := pretty.Row{}
		for _, c := range r {
			row = append(row, cell(c))
		}
		w.AppendRow(row)
	}
}

// CSV writes the table under one line of heads, as RFC 4180 has it. A text that a
// spreadsheet would take for a formula has an apostrophe before it: see visible.Inert.
func (t *Table) CSV(w io.Writer) error {
	out := csv.NewWriter(w)
	line := make([]string, len(t.Columns))
	for i, c := range t.Columns {
		line[i] = visible.Inert(c.Head)
	}
	if err := out.Write(line); err != nil {
		return err
	}
	for _, r := range t.Rows {
		for i, c := range r {
			line[i] = visible.Inert(c.Text)
		}
		if err := out.Write(line); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}
