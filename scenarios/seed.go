package scenarios

import "ipamsim/scenarios/strict"

// The summary of a scenario for a caller that runs many.

// Seed of the scenario's own run.
func (s *Scenario) Seed() uint64 { return s.report(Options{}).Seed }

// ExpectLine returns the line of the expectation in the file; that of the Scenario document if there is none.
func (s *Scenario) ExpectLine() int {
	if s.doc == nil { // made, not loaded
		return 1
	}
	n, _ := strict.Locate(s.doc.Root, at("spec", "expect"))
	return n.Line
}
