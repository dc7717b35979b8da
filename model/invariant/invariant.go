// Package invariant holds the oracles: pure functions that compare the truth with the record and
// return violations. There is one file per invariant.
package invariant

import (
	"time"

	"ipamsim/model"
	"ipamsim/model/route"
)

// Phase is the time at which an invariant holds.
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
	Cause    CauseRule
	// Follows are the names of invariants whose violation leads to a later violation of this one.
	// They are names because Go allows no cycle between variables.
	Follows []string
	// Effect is the effect of a violation on users. Decision is the decision of an operator if
	// there is no remediation. Both are sentences without a period for the report of an import; ""
	// if they depend on the cluster. No Decision calls a command safe.
	//
	// Sources: pkg/apis/core/validation, ValidateServiceUpdate and ValidateNodeUpdate (what
	// cannot be changed); pkg/registry/core/service/ipallocator/controller, RepairIPAddress;
	// pkg/controller/nodeipam/ipam, AllocateOrOccupyCIDR, its events (Kubernetes v1.37.2).
	Effect, Decision string
	// Keep are the parts of a world without which a violation shows nothing.
	Keep Keep
	// Fatal: the violation is a panic or a hang. It may end the worker process, and no
	// race makes it rare.
	Fatal bool
	// Check returns the violations, one for each set of objects, sorted by objects. The caller,
	// which knows the schedule, sets Step and At, and also Message: most violations existed at the
	// previous step and are reported once.
	Check func(View) []model.Violation
}

// Keep lists the parts of a world that must stay when a failure is shrunk.
type Keep uint8

// Keep values.
const (
	KeepNothing    Keep = iota
	KeepCollectors      // daemons, reconcilers and their timers, which release what is left; always kept for Quiescent invariants
	KeepRoutes          // the objects that make nodes reach the addresses of pods
)

// Kind is one kind of violation of an invariant.
type Kind struct {
	Code string // lower case with dashes, never changed; "" where there is one way only
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
	// Late is the last time at which a message of such a process took long, so that its work was
	// late.
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
