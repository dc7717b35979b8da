package model

import (
	"slices"
	"time"
)

// Severity orders violations by what they do to users.
type Severity string

// From traffic that goes wrong now, over what will go wrong, to waste.
const (
	Critical Severity = "critical" // two pods on one address, or a pod nobody can reach
	Major    Severity = "major"    // the state before that, or pods that cannot start
	Minor    Severity = "minor"    // waste: addresses nobody can use
)

// Severities are all of them, the worst first.
var Severities = []Severity{Critical, Major, Minor}

// Rank is the place in Severities, -1 of what is none.
func (s Severity) Rank() int { return slices.Index(Severities, s) }

// Violation is one broken invariant, once per set of objects.
type Violation struct {
	Invariant string   `json:"invariant"`
	Severity  Severity `json:"severity"`
	// Code tells the kinds of break of one invariant apart ("no-route", "swallowed"), ""
	// where there is only one. Unlike Message it never changes its wording.
	Code string        `json:"code,omitempty"`
	At   time.Duration `json:"-"`
	Step int           `json:"step"`
	// Message is for people only, and says what the rest says as data: see Say.
	Message string `json:"message"`
	Objects []Ref  `json:"objects"`         // sorted; the violation's identity together with Invariant
	Facts   []Fact `json:"facts,omitempty"` // in the order of the invariant
	// From and To are positions in History.Events: [From:To) had happened since the
	// judgement before. What broke it is one of these, or the step.
	From int `json:"-"`
	To   int `json:"-"`
}
