// Package baseline is what a gate compares with, how it compares, and the forms
// in which people and machines read what came of it.
package baseline

import (
	"slices"
	"time"

	"ipamsim/model"
	"ipamsim/reports"
)

// Outcome is the result of a gate as data, for all output formats.
type Outcome struct {
	Versions []Version // by manager
	Rows     []Row     // in the order of the files; including unchanged ones
	Runs     int
	Wall     time.Duration // the sum over all runs
	Elapsed  time.Duration // wall time
	// Moved counts the runs with other messages than before. Undecided counts the violations
	// that are too rare to decide whether they still occur.
	Moved, Undecided int
	Searched         int              // generated worlds
	Repeated         reports.Repeated // repeated runs
}

// Version is the version of an address manager before and now: "module@version", followed by
// "=> DIR" if it is replaced.
type Version struct{ Manager, Before, Now string }

// Row is one scenario.
type Row struct {
	Scenario string
	File     string
	Line     int    // of the file, where it says what is expected; 1 if it does not
	Manager  string // ipam of the scenario
	Title    string
	Runs     int
	Wall     time.Duration
	Changes  []Change // empty: as before; the gravest first
	Pool     bool     // no scenario, but the mean over all of the manager's
	Search   bool     // no scenario, but what a search found
}

// Kind of a change.
type Kind string

// What can be different from the baseline.
const (
	NewViolation      Kind = "new-violation"      // an invariant breaks that did not
	VanishedViolation Kind = "vanished-violation" // one that did no longer breaks, and upstream is the same: we see less
	FixedViolation    Kind = "fixed-violation"    // the same, upstream is another, and nothing else is different
	ChangedViolation  Kind = "changed-violation"  // it no longer breaks, upstream is another, and so is more than that: look
	Nondeterminism    Kind = "nondeterminism"     // the same run twice was not the same
	CostMoved         Kind = "cost"               // a cost is beyond its tolerance, in either direction
	NewScenario       Kind = "new-scenario"       // the baseline does not know it
	MissingScenario   Kind = "missing-scenario"   // the baseline knows it, and it is not there
	NotReproduced     Kind = "not-reproduced"     // a stored finding that can no longer be followed
	CannotRun         Kind = "cannot-run"         // the harness failed
	LeftOut           Kind = "left-out"           // there was no time to judge it
	Unfinished        Kind = "unfinished"         // a limit cut a run short that ended before
)

// Change is one thing that is different from the baseline.
type Change struct {
	Kind       Kind
	Regression bool // it turns the gate red
	// What it is about: an invariant, or a cost ("API calls per ADD").
	What          string
	Measure       reports.Measure // of a cost
	Severity      model.Severity  // of a violation
	Before, After string          // "0 of 3 runs", "12.5"
	Sentence      string          // for people: what happened, in one
	Command       string          // what shows it again
	Timeline      string          // how it came to it; may be empty
	Step          int
	Seed          uint64 // of the run that shows it
	File          string // that shows it, if it is not the row's
	Calls         []Call // in the address manager's own code, on the way to it; may be empty
	Found         *Found // by a search, else nil
}

// Found is where a search found a failure.
type Found struct {
	Cause  string `json:"cause"`          // cause.Cause.Key, or Look of what looks like nothing that is known
	Target string `json:"target"`         // whose world
	Seed   uint64 `json:"seed,omitempty"` // of the world; 0: of the target's corpus
	Worlds int    `json:"worlds"`         // that were run until then
}

// Call is what a process did on the way to a violation, and where in the address
// manager's own code.
type Call struct {
	Step int
	Text string // one line for people
	Site model.CallSite
}

// Red reports whether something got worse.
func (o *Outcome) Red() bool {
	for i := range o.Rows {
		if o.Rows[i].Red() {
			return true
		}
	}
	return false
}

// proves is false for what says nothing of a scenario.
func (k Kind) proves() bool { return k != CannotRun && k != LeftOut }

// Red reports whether something of the scenario got worse.
func (r *Row) Red() bool {
	return slices.ContainsFunc(r.Changes, func(c Change) bool { return c.Regression })
}
