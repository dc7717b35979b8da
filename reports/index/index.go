// Package index draws the page over many runs: what a campaign found, or how the
// scenarios of a library ended.
//
// A page is one file that loads nothing. Whatever is in it may come from anybody,
// so it is escaped, and the page's content security policy allows its own script
// and style by their hashes and nothing else. Without a script it can be read; with
// it, it can be searched, filtered and sorted, and commands can be copied.
package index

import (
	"time"

	"ipamsim/reports/chart"
)

// Index is what such a page shows, from its top to its bottom.
type Index struct {
	Title  string
	Lead   string        // what this is, in a sentence or two
	Reload time.Duration // it is written anew about so often, and reads itself anew; 0: it is final
	Facts  []Fact
	Notes  []string // what a reader must know before he believes the rest
	Charts []Chart
	Tables []*Table
}

// Fact is one of the figures at the top.
type Fact struct{ Name, Value string }

// Chart is one with what it shows in words, for those who do not see it.
type Chart struct {
	*chart.Chart
	Words string
}

// Table has rows that can be searched, filtered and sorted.
type Table struct {
	Name    string // in links: findings, runs
	Title   string
	Note    string // under the title
	Columns []Column
	Rows    [][]Cell // a cell for each column
	Left    int      // rows that were left out
}

// Column of a table. The first one names the row.
type Column struct {
	Title  string
	Number bool // to the right
	Choice bool // few values: there is a filter for it
}

// Cell is what is in one place. The zero value is empty.
type Cell struct {
	Text string
	Link string // of the text; a file beside the page, or https://
	More string // smaller, below
	// Order is where the cell belongs if its column is sorted: a number, or the
	// text if it is nil.
	Order   *float64
	Mark    Mark
	Command string // to copy
	Links   []Link // below
}

// Link leads to a file beside the page, or to https://.
type Link struct{ Text, To string }

// Mark is how a cell strikes the eye. It never says more than the text does.
type Mark string

// The marks.
const (
	Bad   Mark = "bad"
	Grave Mark = "grave"
	Mild  Mark = "mild"
	Good  Mark = "good"
)

func order(v float64) *float64 { return &v }
