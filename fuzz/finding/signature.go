package finding

import (
	"fmt"
	"hash/fnv"

	"ipamsim/fuzz/cause"
	"ipamsim/model"
	"ipamsim/reports"
)

// Signature identifies a failure before it is shrunk. It is cheap to compute and enough to
// decide whether shrinking is worthwhile and what shrinking must preserve.
type Signature struct {
	// Cause is the first link of its cause: see cause.Cause.Signature.
	Cause   string
	Faulted bool // a fault came before it
}

// SignatureOf looks at one violation of a run.
func SignatureOf(rep *reports.Report, v *model.Violation) Signature {
	return Signature{cause.Of(rep, v).Signature(), faults(rep.History, v) > 0}
}

// String is 16 hexadecimal digits.
func (g Signature) String() string {
	h := fnv.New64a()
	fmt.Fprintf(h, "%s\n%t", g.Cause, g.Faulted)
	return fmt.Sprintf("%016x", h.Sum64())
}

// In finds the violation of a run that has this signature. One after faults and one
// without are never the same: what a fault does, something else may do as well, and
// that is another failure.
func (g Signature) In(rep *reports.Report) *model.Violation {
	for i := range rep.Violations {
		if v := &rep.Violations[i]; SignatureOf(rep, v) == g {
			return v
		}
	}
	return nil
}

// In finds the finding's violation in a run that replays it. Others of the same
// invariant, with another cause, may have come before.
func (f *Finding) In(rep *reports.Report) *model.Violation {
	return f.Signature().In(rep)
}

// Signature is that of its violation.
func (f *Finding) Signature() Signature { return Signature{f.Cause.Signature(), f.Faults > 0} }

// faults is how many came before a violation.
func faults(h *model.History, v *model.Violation) (n int) {
	for i := range h.Events[:v.To] {
		if h.Events[i].Kind == model.FaultEvent {
			n++
		}
	}
	return n
}
