package por

import (
	"fmt"
	"time"

	"ipamsim/sim"
)

// Name is the name of a message, which does not depend on the order of unrelated messages.
// Two messages of one process with the same request have the same name.
type Name struct {
	Actor sim.ActorID
	Kind  sim.OpKind
	About string // the request without its query, which may hold a revision
}

// Move is one decision of a schedule: which message goes next, and its outcome.
type Move struct {
	Name
	Nth     int // index among the waiting messages of that name, 0 for the oldest
	Outcome sim.Outcome
	Level   int
}

// Log is what a run showed: every message that waited, and every step.
type Log struct {
	Offers   []Offer // in the order in which they came
	Steps    []Step
	End      time.Duration // virtual time at the end
	Cut      string        // why the run proves nothing, "" if it is complete
	Plan     Plan
	Followed int // how many of the plan's moves could be made
	Breaks   []Break
	Joined   [][]string `json:",omitempty"` // things that are checked together from the start: see Step.Touches
	Together bool       `json:",omitempty"` // invariants at rest are checked with all things together
}

// Offer is a message that waited at the gate.
type Offer struct {
	Name
	Resource, Path string // of the request
	Hurts          sim.FaultSet
	Fails, Loses   sim.Ways `json:",omitempty"`
	Draws          int
	Sent, Due      time.Duration
	Born           int // number of steps when it first waited
	Gone           int // number of steps when it was withdrawn, -1 if it was not
}

// ways are the ways of an outcome.
func (o *Offer) ways(of sim.Outcome) sim.Ways {
	op := sim.Op{Fails: o.Fails, Loses: o.Loses}
	return op.Ways(of)
}

// Step is a message that was delivered or got a fault.
type Step struct {
	Offer   int
	Outcome sim.Outcome
	Level   int
	At      time.Duration
	// Touches names the checked things that changed, such as a pod or an address; Whole if
	// everything is concerned. Empty: no checked state changed.
	Touches []string `json:",omitempty"`
	// Counts: state that is checked at the end changed, even if Touches is empty.
	Counts bool `json:",omitempty"`
	// Wrote lists what the step wrote, in that order. All is set if it wrote nothing else;
	// otherwise the list may be incomplete.
	Wrote []Wrote `json:",omitempty"`
	All   bool    `json:",omitempty"`
}

// Wrote is an object as a step left it.
type Wrote struct {
	Object string
	State  string // a digest of all that readers see, except revisions
}

// Break is a violation.
type Break struct {
	Step      int // the step after which it was found, 1 for the first; the last step for a violation at the end
	Invariant string
	Message   string
}

// Check reports what is wrong with a log that was read from a file.
func (l *Log) Check() error {
	born := 0
	for i := range l.Offers {
		o := &l.Offers[i]
		if o.Born < born || o.Born > len(l.Steps) || o.Gone > len(l.Steps) || o.Sent < 0 {
			return fmt.Errorf("offer %d came after step %d of %d", i, o.Born, len(l.Steps))
		}
		born = o.Born
	}
	taken := map[int]bool{}
	for i, s := range l.Steps {
		if s.Offer < 0 || s.Offer >= len(l.Offers) || taken[s.Offer] || l.Offers[s.Offer].Born > i || s.At < 0 {
			return fmt.Errorf("step %d takes offer %d, which is not there", i, s.Offer)
		}
		taken[s.Offer] = true
	}
	return nil
}
