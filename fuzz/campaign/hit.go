package campaign

import (
	"slices"

	"ipamsim/fuzz/finding"
	"ipamsim/model"
	"ipamsim/reports"
	"ipamsim/scenarios"
)

// hit is one way in which one run failed.
type hit struct {
	Signature string
	Invariant string
	Severity  model.Severity
	Steps     int // up to and with the one that broke it
	Faulted   bool
	Follows   bool // another invariant was broken before: it may be a consequence
}

// hits are the failures of a run that its scenario does not expect: for each
// invariant its first violation.
func hits(sc *scenarios.Scenario, rep *reports.Report) []hit {
	var out []hit
	unexpected := rep.Unexpected()
	for i := range rep.Violations {
		v := &rep.Violations[i]
		n, found := slices.BinarySearch(unexpected, v.Invariant)
		if !found {
			continue
		}
		unexpected = slices.Delete(unexpected, n, n+1)
		g := finding.SignatureOf(rep, v)
		out = append(out, hit{g.String(), v.Invariant, v.Severity, v.Step, g.Faulted, false})
	}
	for i := range out {
		out[i].Follows = slices.ContainsFunc(out, func(h hit) bool { return h.Steps < out[i].Steps })
	}
	return out
}

// violation of the report that the hit is about.
func (h hit) violation(rep *reports.Report) *model.Violation {
	i := slices.IndexFunc(rep.Violations, func(v model.Violation) bool { return v.Invariant == h.Invariant })
	return &rep.Violations[i]
}
