package worker

import (
	"slices"

	"ipamsim/fuzz/finding"
	"ipamsim/model"
	"ipamsim/reports"
)

// hit is one way in which one run failed.
type hit struct {
	Signature string
	Invariant string
	Severity  model.Severity
	Steps     int // up to and with the one that broke it
	Faulted   bool
	Follows   bool // another invariant was broken before: it may be a consequence
	Violation int  // position in the report's Violations
}

// hits are the failures of a run that its scenario does not expect, each signature
// once: a run may break one invariant for several reasons.
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

// hitsMax is more than a run has reasons; one in which everything breaks teaches no more.
const hitsMax = 32

// violation of the report that the hit is about.
func (h hit) violation(rep *reports.Report) *model.Violation { return &rep.Violations[h.Violation] }
