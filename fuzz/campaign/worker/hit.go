package worker

import (
	"slices"

	"ipamsim/fuzz/finding"
	"ipamsim/model"
	"ipamsim/reports"
)

// hit is one failure of a run.
type hit struct {
	Signature string
	Invariant string
	Severity  model.Severity
	Steps     int // up to and including the step that broke the invariant
	Faulted   bool
	Follows   bool // another invariant broke before: the failure may be a consequence
	Violation int  // index in the report's Violations
}

// hits returns the failures of a run that its scenario does not expect, one for each signature: a
// run may break one invariant for several reasons.
func hits(rep *reports.Report) []hit {
	var out []hit
	for _, i := range rep.News() {
		v := &rep.Violations[i]
		if len(out) == hitsMax {
			break
		}
		g := finding.SignatureOf(rep, v)
		sig := g.String()
		if !slices.ContainsFunc(out, func(h hit) bool { return h.Signature == sig }) {
			out = append(out, hit{sig, v.Invariant, v.Severity, v.Step, g.Faulted, false, i})
		}
	}
	for i := range out {
		out[i].Follows = slices.ContainsFunc(out, func(h hit) bool { return h.Steps < out[i].Steps })
	}
	return out
}

// hitsMax is more than a run normally has. More failures of one run show nothing new.
const hitsMax = 32

// violation returns the violation in the report.
func (h hit) violation(rep *reports.Report) *model.Violation { return &rep.Violations[h.Violation] }
