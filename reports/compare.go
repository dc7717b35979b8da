package reports

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"ipamsim/model"
	"ipamsim/model/metric"
)

// Outcomes puts runs side by side that were measured: a line a run, what each
// came to in the end. The zero value is ready; it keeps no report.
type Outcomes struct{ rows [][]string }

// outcomesMax is more than anybody compares at a glance.
const outcomesMax = 100

// Add takes a run in, if it was measured.
func (o *Outcomes) Add(r *Report) {
	if row := r.outcome(); row != nil && len(o.rows) < outcomesMax {
		o.rows = append(o.rows, row)
	}
}

// Table is the comparison for people; "" if fewer than two runs were measured.
//
// Blocks, empty blocks, nodes without one, addresses in use, borrowed and lost
// pairs are the last sample's; refused are the ADDs of the whole run that ended
// without an address; routes are what the nodes announce: each block and each
// borrowed address.
func (o *Outcomes) Table() string {
	rows := o.rows
	if len(rows) < 2 {
		return ""
	}
	head := []string{"scenario", "datastore", "blocks", "empty", "nodes without", "in use", "borrowed", "lost pairs", "routes", "refused"}
	width := make([]int, len(head))
	for _, row := range append([][]string{head}, rows...) {
		for i, cell := range row {
			width[i] = max(width[i], utf8.RuneCountInString(cell))
		}
	}
	var b strings.Builder
	for _, row := range append([][]string{head}, rows...) {
		line := pad(row[0], width[0])
		for i, cell := range row[1:] {
			line += fmt.Sprintf("  %*s", width[i+1], cell)
		}
		b.WriteString(line + "\n")
	}
	return b.String()
}

// outcome is the run's line, or nil if nothing was measured.
func (r *Report) outcome() []string {
	instants := r.Series.Instants()
	if len(instants) == 0 {
		return nil
	}
	last := instants[len(instants)-1]
	sum := func(name string) float64 { v, _ := r.Series.Sum(name, last); return v }
	row := []string{cut(Clean(r.Scenario), summaryNameMax), cmp.Or(r.Datastore, "-")}
	for _, v := range []float64{
		sum(metric.BlocksPerNode), sum(metric.EmptyBlocks), sum(metric.NodesWithoutBlock), sum(metric.InUse), sum(metric.Borrowed),
		sum(metric.BlackholedPairs), sum(metric.BlocksPerNode) + sum(metric.Borrowed), float64(r.refused()),
	} {
		row = append(row, strconv.FormatFloat(v, 'f', -1, 64))
	}
	return row
}

// refused counts the ADDs that ended without an address.
func (r *Report) refused() (n int) {
	if r.History == nil {
		return 0
	}
	for _, e := range r.History.Events {
		if e.Kind == model.AddEnd && e.Err != "" {
			n++
		}
	}
	return n
}
