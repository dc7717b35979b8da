package mutants

import (
	"fmt"
	"slices"

	"ipamsim/reports/baseline"
)

// Verdict is the result of a gate for a mutant.
type Verdict string

// The verdicts.
const (
	Killed   Verdict = "killed"   // a scenario is worse
	Survived Verdict = "survived" // no scenario is worse, though runs took another course
	Same     Verdict = "same"     // all runs are the same as without the mutant, message by message
	Unknown  Verdict = "unknown"  // the gate could not judge, or had no time
)

// Result is the result of a gate with the scenarios that execute a mutant.
type Result struct {
	Mutant    string        `json:"mutant"` // its key
	Sum       string        `json:"sum"`    // checksum of the program and the baseline
	Verdict   Verdict       `json:"verdict"`
	Scenario  string        `json:"scenario,omitempty"` // the first that is worse, or could not be judged
	Kind      baseline.Kind `json:"kind,omitempty"`
	What      string        `json:"what,omitempty"` // an invariant or a cost
	Scenarios int           `json:"scenarios"`      // that execute it; a gate stops at the first that is worse
	Runs      int           `json:"runs"`
	Moved     int           `json:"moved"` // that took another course
	Seconds   float64       `json:"seconds"`
}

// Judge returns the result for a mutant from a gate's outcome.
func Judge(s *baseline.Summary) Result {
	r := Result{Verdict: Survived, Runs: s.Runs, Moved: s.Moved, Seconds: s.Seconds}
	if s.Moved == 0 {
		r.Verdict = Same
	}
	proof := func(c baseline.Moving) bool {
		return c.Regression && c.Kind != baseline.CannotRun && c.Kind != baseline.LeftOut
	}
	i, verdict := slices.IndexFunc(s.Changes, proof), Killed
	if i < 0 {
		i, verdict = slices.IndexFunc(s.Changes, func(c baseline.Moving) bool { return c.Regression }), Unknown
	}
	if i >= 0 {
		c := &s.Changes[i]
		r.Verdict, r.Scenario, r.Kind, r.What = verdict, c.Scenario, c.Kind, c.What
	}
	return r
}

// Line returns the result as a line of progress.
func (r *Result) Line() string {
	return fmt.Sprintf("%s %s %s %s, %d runs, %.1fs: %s", r.Verdict, r.Scenario, r.Kind, r.What, r.Runs, r.Seconds, r.Mutant)
}
