package baseline

import (
	"fmt"
	"math"
	"time"

	"ipamsim/reports"
)

// Result is what a gate saw of one scenario.
type Result struct {
	Scenario string
	File     string
	Line     int // of the expectation in the file
	Title    string
	Manager  string
	Upstream string // module@version of the manager
	Runs     []Run  // of the first seeds, in order
	Wide     []Run  // of more seeds, including Runs; nil until needed
	// Known lists the invariants that the file expects or allows to be violated.
	Known []string
	// Own is the scenario's own seed; Cheap says that other seeds ran with the simple
	// controllers, not with Kubernetes' own.
	Own   uint64
	Cheap bool
	// Record is of a finding: the run that its file holds.
	Record *Record
	// Troubles are what the gate noticed itself: runs that were not the same twice, or
	// that ipamsim could not do.
	Troubles []Change
	Wall     time.Duration
}

// Record of a finding.
type Record struct {
	Upstream string
	Violated []string // sorted
}

// Command runs a seed as the gate did.
func (r *Result) Command(seed uint64) string {
	c := fmt.Sprintf("ipamsim run %s --seed %d", reports.Shell(r.File), seed)
	if r.Cheap && seed != r.Own {
		c += " --controllers simple"
	}
	return c
}

// entryOf is a scenario as a baseline keeps it.
func entryOf(r *Result) Entry {
	e := Entry{Scenario: r.Scenario, Manager: r.Manager, Runs: r.Runs, Wide: len(r.Wide), Costs: map[string]Cost{}}
	for m, all := range summed(r.Runs) {
		e.Costs[m.String()] = Cost{Amount: all}
	}
	for m, q := range quartiles(r.Wide) {
		c := e.Costs[m.String()]
		c.Low, c.Median, c.High = q[0], q[1], q[2]
		e.Costs[m.String()] = c
	}
	refused, _ := e.cost(refusedADDs)
	rates, most := map[string]int{}, refused.most()
	for _, run := range r.Wide {
		for _, inv := range run.Violated {
			rates[inv]++
		}
		if run.Cost[refusedADDs].Sum > most {
			rates[refusedADDs.String()]++
		}
	}
	if len(rates) > 0 { // as it is read again from a file
		e.Rates = rates
	}
	return e
}

// summed are the costs of several runs together, to the millionth that a file keeps.
func summed(runs []Run) reports.Cost {
	out := reports.Cost{}
	for _, r := range runs {
		for m, a := range r.Cost {
			b := out[m]
			out[m] = reports.Amount{Sum: b.Sum + a.Sum, Of: b.Of + a.Of}
		}
	}
	for m, a := range out {
		out[m] = reports.Amount{Sum: math.Round(a.Sum*1e6) / 1e6, Of: a.Of}
	}
	return out
}
