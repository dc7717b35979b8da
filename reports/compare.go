package reports

import (
	"cmp"
	"strconv"

	"ipamsim/model"
	"ipamsim/model/metric"
	"ipamsim/reports/layout"
	"ipamsim/reports/table"
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
	t := table.New("scenario", "datastore", "blocks", "empty", "nodes without", "in use", "borrowed", "lost pairs", "routes", "refused")
	for i := range t.Columns {
		t.Columns[i].Right = i > 0
	}
	for _, row := range rows {
		t.Add(row...)
	}
	return t.Text() + "\n"
}

// outcome is the run's line, or nil if nothing was measured.
func (r *Report) outcome() []string {
	instants := r.Series.Instants()
	if len(instants) == 0 {
		return nil
	}
	last := instants[len(instants)-1]
	sum := func(name string) float64 { v, _ := r.Series.Sum(name, last); return v }
	row := []string{layout.Cut(Clean(r.Scenario), summaryNameMax), cmp.Or(r.Datastore, "-")}
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
