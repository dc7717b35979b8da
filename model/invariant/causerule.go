package invariant

import "ipamsim/model"

// CauseRule defines how the search explains a violation of one invariant: at which event
// the chain of causes begins, and which parts of the chain identify the cause. Package
// fuzz/cause reads it. The zero value of every field but Start is the usual case.
type CauseRule struct {
	Start    Start
	Write    WriteRule
	Identity Identity

	// Delayed: the violation appears some time after the mistake, when a bound is
	// exceeded. Quiescent invariants are always delayed.
	Delayed bool
	// NamesCall: the violation names the CNI call after which it was found, by the fact "at".
	NamesCall bool
	// Rows adds reservations or handles to the rows of the record that matter. All other
	// rows always do.
	Rows []model.RefKind
	// First: if this violation and one that it follows begin at the same step, this one
	// is the earlier.
	First bool
}

// Start is the event at which the chain of causes begins.
type Start uint8

// The starts. The zero value is not one of them: TestCauseRules fails for an invariant without a
// Start.
const (
	FromWrite            Start = iota + 1 // the last write to an object of the violation
	FromPanic                             // a process of the address manager panicked
	FromExit                              // a process exited with an error
	FromRequests                          // a process repeats its requests
	FromRefusal                           // a CNI call that failed, otherwise FromWrite
	FromRelease                           // the call that should have released the object, and later reconciler passes; otherwise FromWrite
	FromReleaseOrRefusal                  // FromRelease, otherwise FromRefusal
	FromAssigner                          // the process that assigns such objects
	FromStatus                            // the last write to the status of the object
)

// WriteRule defines how the write at the start of the chain is described.
type WriteRule struct {
	// Outcome replaces the outcome of the write: whether it created or changed its object
	// makes no difference.
	Outcome string
	// Returned: an address that was never claimed is explained by the ADD that returned it.
	Returned bool
	// Freed: a new claim is also explained by the process that had released the address.
	Freed bool
	// Unreserved: a new claim is explained by the process that dropped the reservation
	// that would have prevented it.
	Unreserved bool
	// Reserves: the write should have reserved the address, and is described so unless it
	// is about a reservation.
	Reserves bool
	// Unmarked: without a write, the process that freed the node port is named as well.
	Unmarked bool
	// Answered: without a write, the last write before the answer counts, not the last
	// before the violation was seen.
	Answered bool
	// Limit: the write is described by whether its process had listed such objects before.
	Limit bool
	// Route: the write is described by the route of the packets that are lost.
	Route bool
	// Unnotified is the code of violations whose write was correct, but whose notification
	// failed. Notifications are not part of the record.
	Unnotified string
}

// Identity defines which parts of the chain distinguish causes.
type Identity struct {
	// Group replaces the invariant in the name of a finding, if several invariants report
	// the same mistake.
	Group Group
	// Same replaces invariant and code in the name of a finding: another invariant reports
	// the same mistake earlier.
	Same [2]string
	// Code maps the code of a violation to the part of it that identifies the cause; nil:
	// all of it, "": none.
	Code func(code string) string
	// CodeIfNew: the code identifies the cause only if the write created a claim and no
	// other process had released the address.
	CodeIfNew bool
	// Function: the record contradicts itself. The function that wrote it identifies the
	// cause, not its caller and not what interrupted it.
	Function bool
	// Innermost: the innermost function identifies the cause, not its caller.
	Innermost bool
	// Counts: the function makes several writes, and any of them may fail. Which one failed
	// does not matter.
	Counts bool
	// Earlier: earlier calls caused the violation, not the call at the start of the chain.
	Earlier bool
	// AnyError: a call that takes an error for a refusal is one cause, whichever error it is.
	AnyError bool
}

// Group is the name of a mistake that several invariants report.
type Group string

// The groups.
const (
	AddressLost Group = "address-lost" // the owner of an address was overwritten or removed
	LeftOver    Group = "left-over"    // a call did not release an object, or no call came
)

// HandedOut is the outcome of a write that gave out an address, whether or not it was
// claimed before.
const HandedOut = "handed out"

// noCode is for codes that depend on the schedule alone.
func noCode(string) string { return "" }
