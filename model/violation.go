package model

import (
	"slices"
	"time"
)

// Severity orders violations by their effect on users.
type Severity string

// The severities: traffic fails now, traffic is going to fail, or addresses are wasted.
const (
	Critical Severity = "critical" // two pods on one address, or an unreachable pod
	Major    Severity = "major"    // a state that leads to that, or pods that cannot start
	Minor    Severity = "minor"    // waste: addresses that cannot be used
)

// Severities are all severities, the worst first.
var Severities = []Severity{Critical, Major, Minor}

// Rank is the index in Severities, -1 for an unknown severity.
func (s Severity) Rank() int { return slices.Index(Severities, s) }

// Violation is one broken invariant, once per set of objects.
type Violation struct {
	Invariant string   `json:"invariant"`
	Severity  Severity `json:"severity"`
	// Code distinguishes the kinds of violation of one invariant ("no-route",
	// "swallowed"); it is "" if there is only one. Unlike Message its wording never changes.
	Code string        `json:"code,omitempty"`
	At   time.Duration `json:"-"`
	Step int           `json:"step"`
	// Message renders the other fields for people: see Say.
	Message string `json:"message"`
	Objects []Ref  `json:"objects"`         // sorted; the violation's identity together with Invariant
	Facts   []Fact `json:"facts,omitempty"` // in the order of the invariant
	// From and To are indexes in History.Events: [From:To) happened since the check before. One of
	// these events, or the step, caused the violation.
	From int `json:"-"`
	To   int `json:"-"`
}
