package scenarios

import (
	"strings"

	"ipamsim/scenarios/strict"
)

// What somebody wants to know of a scenario who runs it among many.

// Seed of the scenario's own run.
func (s *Scenario) Seed() uint64 { return s.report(Options{}).Seed }

// Manager is the module@version of the address manager, without what of ours runs
// beside it.
func (s *Scenario) Manager() string { return adapters()[s.Doc.Spec.IPAM].Upstream() }

// ExpectLine is the line of the file that says what is expected; that of the
// Scenario document if none does.
func (s *Scenario) ExpectLine() int {
	if s.doc == nil { // made, not loaded
		return 1
	}
	n, _ := strict.Locate(s.doc.Root, at("spec", "expect"))
	return n.Line
}

// Simulated is the version of an address manager that runs here, e.g. v3.31.0; "" for
// one that nobody knows.
func Simulated(manager string) string {
	a := adapters()[manager]
	if a == nil {
		return ""
	}
	_, version, _ := strings.Cut(a.Upstream(), "@")
	return version
}
