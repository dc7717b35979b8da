package index

import (
	"crypto/sha256"
	_ "embed" // the page's parts
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"strconv"

	"ipamsim/reports"
	"ipamsim/reports/chart"
	"ipamsim/reports/visible"
)

//go:embed page.html
var pageText string

//go:embed page.css
var css string

//go:embed page.js
var script string

var page = template.Must(template.New("index").Parse(pageText))

// view is an index as the template wants it.
type view struct {
	*Index
	Policy string
	Style  template.CSS
	Script template.JS
	Charts []figure
	Tables []table
	Every  int // seconds
}

type figure struct {
	Title string
	SVG   template.HTML
	Words string
}

type table struct {
	*Table
	Choices bool
	Rows    [][]cell
}

type cell struct {
	Cell
	Column Column
	First  bool
	Sorts  string // "" if the text does
	Word   bool   // it stays on one line
}

// Write draws the page. The same index is the same bytes.
func Write(w io.Writer, x *Index) error {
	style := Style()
	v := view{
		Index: x, Style: template.CSS(style), Script: template.JS(script), Every: int(x.Reload.Seconds()),
		Policy: Policy(style, script),
	}
	for _, c := range x.Charts {
		svg, err := chart.Inline(c.Chart, c.Words)
		if err != nil {
			return fmt.Errorf("index: %w", err)
		}
		v.Charts = append(v.Charts, figure{c.Title, svg, c.Words})
	}
	for _, t := range x.Tables {
		rows, err := t.cells()
		if err != nil {
			return err
		}
		v.Tables = append(v.Tables, table{Table: t, Rows: rows})
	}
	return visible.Page(w, page, v)
}

func (t *Table) cells() ([][]cell, error) {
	out := make([][]cell, len(t.Rows))
	for i, r := range t.Rows {
		if len(r) != len(t.Columns) {
			return nil, fmt.Errorf("index: table %s, row %d: %d cells, want %d", t.Name, i, len(r), len(t.Columns))
		}
		for n, c := range r {
			c.Text, c.More = reports.Clean(c.Text), cut(reports.Clean(c.More))
			if reports.Clean(c.Command) != c.Command {
				c.Command = "" // what is copied must be what is seen
			}
			x := cell{Cell: c, Column: t.Columns[n], First: n == 0, Word: len(c.Text) <= wordMax}
			if c.Order != nil {
				x.Sorts = strconv.FormatFloat(*c.Order, 'g', -1, 64)
			}
			out[i] = append(out[i], x)
		}
	}
	return out, nil
}

// wordMax is longer than the name of any invariant or manager.
const wordMax = 22

func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return base64.StdEncoding.EncodeToString(sum[:])
}
