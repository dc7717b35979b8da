package baseline

import (
	"slices"
	"strings"

	"ipamsim/reports"
)

// Format is the version of the file format. Readers reject others.
const Format = "ipamsim.dev/baseline/v1"

// Baseline holds the accepted results of the library, written by ipamsim gate --update.
type Baseline struct {
	Format     string                       `json:"format"`
	Upstream   map[string]string            `json:"upstream"` // by manager: module@version
	Tolerances map[reports.Family]Tolerance `json:"tolerances"`
	Scenarios  []Entry                      `json:"scenarios"` // by name; a line each
	File       string                       `json:"-"`         // the file it was read from
}

// Entry is one scenario. Its seeds are its own, then 1, 2, 3 … without that: a gate
// runs the first of them (Runs), an update many more (Wide), so that what chance
// alone does is known.
type Entry struct {
	Scenario string          `json:"scenario"`
	Manager  string          `json:"manager"`
	Runs     []Run           `json:"runs"`
	Wide     int             `json:"wide,omitempty"`  // runs behind Rates and the quartiles of Costs, those of Runs among them
	Rates    map[string]int  `json:"rates,omitempty"` // in how many of them each invariant was violated, or more ADDs were refused than usual; what never was is left out
	Costs    map[string]Cost `json:"costs,omitempty"` // by the names of measures
	Line     int             `json:"-"`               // of the file
}

// cost by a measure; ok is false if the baseline is older than that.
func (e *Entry) cost(m reports.Measure) (c Cost, ok bool) {
	c, ok = e.Costs[m.String()]
	return c, ok
}

// Cost of a scenario by one measure: summed over Runs, and its quartiles over the
// wide runs. In the file it is a list of the five numbers.
type Cost struct {
	reports.Amount
	Low, Median, High float64
}

// Run is what one run came to, as far as a gate compares.
type Run struct {
	Seed     uint64   `json:"seed"`
	Steps    int      `json:"steps"`
	Digest   string   `json:"digest"`             // of the schedule log
	Store    string   `json:"store"`              // digest of what is stored at the end
	Violated []string `json:"violated,omitempty"` // invariants, sorted
	Cut      string   `json:"cut,omitempty"`      // by which limit it was cut short

	Cost reports.Cost    `json:"-"`
	Seen map[string]Seen `json:"-"` // by invariant
}

// Seen is the first violation of an invariant in a run.
type Seen struct {
	Severity, Message, Timeline string
	Step                        int
	Calls                       []Call `json:",omitempty"` // of its cause, if it was asked how it came about
}

// SameCourse reports whether two runs sent the same messages with the same answers
// in the same order and left the same behind. What is judged of them may differ.
func (r *Run) SameCourse(o *Run) bool {
	return r.Seed == o.Seed && r.Digest == o.Digest && r.Store == o.Store
}

// Violates reports whether an invariant was violated.
func (r *Run) Violates(invariant string) bool { return slices.Contains(r.Violated, invariant) }

// Entry of a scenario, nil if there is none.
func (b *Baseline) Entry(scenario string) *Entry {
	if b == nil {
		return nil
	}
	i, ok := slices.BinarySearchFunc(b.Scenarios, scenario, func(e Entry, name string) int { return strings.Compare(e.Scenario, name) })
	if !ok {
		return nil
	}
	return &b.Scenarios[i]
}

// Run of a seed, nil if there is none.
func (e *Entry) Run(seed uint64) *Run {
	i := slices.IndexFunc(e.Runs, func(r Run) bool { return r.Seed == seed })
	if i < 0 {
		return nil
	}
	return &e.Runs[i]
}

// Seeds that a gate runs of each scenario: a bug that a change of latencies hides
// from one seed rarely hides from three, and three fit into five minutes.
const Seeds = 3

// SeedsOf are the first n seeds of a scenario whose own one this is.
func SeedsOf(own uint64, n int) []uint64 {
	out := []uint64{own}
	for s := uint64(1); len(out) < n; s++ {
		if s != own {
			out = append(out, s)
		}
	}
	return out[:min(n, len(out))]
}

// WideOf is how many seeds an update runs of a scenario whose own run has so many
// steps: enough of short ones to know a rate of a few in a hundred, as many of long
// ones as there is time for.
func WideOf(steps int) int {
	const stepsAll, least, most = 100_000, 12, 100
	return min(most, max(least, stepsAll/max(1, steps)))
}
