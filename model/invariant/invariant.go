// Package invariant holds the oracles: pure functions from what is true and what
// is claimed to what is wrong. One invariant, one file.
package invariant

import (
	"time"

	"ipamsim/model"
	"ipamsim/model/route"
)

// Phase says when an invariant holds.
type Phase uint8

// Always invariants hold after every step. Quiescent ones hold once faults are
// over, churn has stopped and the reconcilers have run their rounds.
const (
	Always Phase = iota
	Quiescent
)

// Invariant is one oracle.
type Invariant struct {
	Name     string
	Severity model.Severity
	Phase    Phase
	Doc      string // one sentence for people
	Kinds    []Kind
	// Check returns what is broken, each set of objects once, sorted by objects.
	// Step and At are left to the caller, who knows the schedule, and so is Message: most
	// of what is broken was so at the step before, and is told once.
	Check func(View) []model.Violation
}

// Kind is one of the ways in which an invariant breaks.
type Kind struct {
	Code string // lower case with dashes, the same for ever; "" where there is one way only
	Text string // the sentence, as model.Violation.Say reads it
}

// View is everything an oracle may look at, at one instant. Oracles must not
// change it.
type View struct {
	Truth    model.Truth
	Record   model.Snapshot
	Networks []model.Network
	History  *model.History
	Settings Settings
	// Losses are the addresses that nodes cannot reach now, by the routing tables.
	Losses []route.Loss
	// Spins are the background processes of the manager that have asked for the same again
	// and again, in the order in which that was noticed.
	Spins []Spin
	// Late is when a message of such a process last took long: it was behind then with what
	// it hears and does.
	Late time.Duration
	// GaveUp is when such a process last took back a message that took long.
	GaveUp time.Duration
	// Held is until when, by node, a daemon of the manager's there was last kept from its
	// work: by a fault that met it, an answer that never came, a message that took long.
	Held map[string]time.Duration
	// Kept are the sandboxes that container runtimes have on record, by container id, with
	// their nodes: on a node that is well DEL will be called for each that does not run.
	Kept map[string]string
	// Past is what must be remembered of the views before this one. Nil: oracles
	// that compare then and now do not judge.
	Past *Past

	held *held // built once for all oracles by Indexed
}

// Indexed is the same view with the index that most oracles need, so that it is
// built once a step instead of once an oracle. Call it on the complete view,
// and again whenever Truth, Record or Networks changed.
func (v View) Indexed() View {
	h := hold(v)
	v.held = &h
	return v
}

// Settings are the bounds that oracles need, from the scenario.
type Settings struct {
	LeakAfter  time.Duration // how long a claim may outlive its sandbox; 0: not judged before the end
	StuckAfter time.Duration // how long a CNI call may take on a healthy node; 0: not judged
	// BlackholeAfter is how long routes may take to follow before an address that
	// cannot be reached is blackholed; 0: not judged.
	BlackholeAfter time.Duration
}
