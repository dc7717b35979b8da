package campaign

import (
	"fmt"
	"slices"

	"ipamsim/fuzz/shape"
	"ipamsim/model"
	"ipamsim/reports"
)

// hit is one way in which one run failed.
type hit struct {
	Signature string
	Invariant string
	Severity  model.Severity
	Steps     int // up to and with the one that broke it
	Faults    int
}

// hits are the failures of a run that its scenario does not expect: for each
// invariant its first violation.
func hits(rep *reports.Report) []hit {
	var out []hit
	unexpected := rep.Unexpected()
	for i := range rep.Violations {
		v := &rep.Violations[i]
		n, found := slices.BinarySearch(unexpected, v.Invariant)
		if !found {
			continue
		}
		unexpected = slices.Delete(unexpected, n, n+1)
		faults := faultsUntil(rep, v.Step)
		out = append(out, hit{signature(rep, v, faults), v.Invariant, v.Severity, v.Step, faults})
	}
	return out
}

// signature is what a failure looks like before it is shrunk, cheaply: the
// invariant, the kind of message that broke it, and whether anything was hurt
// before.
func signature(rep *reports.Report, v *model.Violation, faults int) string {
	at := "the end"
	for _, s := range rep.Trace.Steps {
		if s.Step == v.Step {
			at = shape.Op(s.Choice.Op) + " " + s.Choice.Outcome.String()
			break
		}
	}
	return digest(fmt.Appendf(nil, "%s\n%s\n%t", v.Invariant, at, faults > 0))
}

func faultsUntil(rep *reports.Report, step int) (n int) {
	for _, s := range rep.Trace.Steps {
		if s.Step <= step && s.Choice.Outcome.Fault() {
			n++
		}
	}
	return n
}

// violation of the report that the hit is about.
func (h hit) violation(rep *reports.Report) *model.Violation {
	i := slices.IndexFunc(rep.Violations, func(v model.Violation) bool { return v.Invariant == h.Invariant })
	return &rep.Violations[i]
}
