// Package index writes the page of many runs: the findings of a campaign, or the outcomes of a
// library's scenarios.
//
// A page is one self-contained file. Its contents are untrusted: they are escaped, and the
// content security policy allows only the page's own script and style, by their hashes. The
// page is readable without the script, which adds search, filters, sorting and copying.
package index

import (
	"time"

	"ipamsim/reports/chart"
)

// Index is the contents of a page, from top to bottom.
type Index struct {
	Title  string
	Lead   string        // one or two sentences
	Reload time.Duration // reload interval while the page is rewritten; 0: final
	Facts  []Fact
	Notes  []string // limits of the results
	Charts []Chart
	Tables []*Table
}

// Fact is a figure at the top.
type Fact struct{ Name, Value string }

// Chart is a chart with a description for screen readers.
type Chart struct {
	*chart.Chart
	Words string
}

// Table is a table that can be searched, filtered and sorted.
type Table struct {
	Name    string // in links: findings, runs
	Title   string
	Note    string // under the title
	Columns []Column
	Rows    [][]Cell // a cell for each column
	Left    int      // omitted rows
}

// Column is a column of a table. The first one names the row.
type Column struct {
	Title  string
	Number bool // right-aligned
	Choice bool // few values: has a filter
}

// Cell is a cell of a table. The zero value is empty.
type Cell struct {
	Text string
	Link string // of the text; a file beside the page, or https://
	More string // smaller, below
	// Order is the sort key; nil: the text.
	Order   *float64
	Mark    Mark
	Command string // to copy
	Links   []Link // below
}

// Link is a link to a file beside the page, or to https://.
type Link struct{ Text, To string }

// Mark highlights a cell. It adds no information to the text.
type Mark string

// The marks.
const (
	Bad   Mark = "bad"
	Grave Mark = "grave"
	Mild  Mark = "mild"
	Good  Mark = "good"
)

func order(v float64) *float64 { return &v }
