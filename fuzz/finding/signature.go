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
	// Cause is cause.Cause.Signature.
	Cause   string
	Faulted bool // a fault came before it
}

// SignatureOf returns the signature of a violation of a run.
func SignatureOf(rep *reports.Report, v *model.Violation) Signature {
	return Signature{cause.Of(rep, v).Signature(), faults(rep.History, v) > 0}
}

// String returns 16 hexadecimal digits.
func (g Signature) String() string {
	h := fnv.New64a()
	fmt.Fprintf(h, "%s\n%t", g.Cause, g.Faulted)
	return fmt.Sprintf("%016x", h.Sum64())
}

// In returns the violation of a run that has this signature, nil if there is none. A violation after
// faults and one without never have the same signature: another event may have the same effect
// as the fault, but that is another failure.
func (g Signature) In(rep *reports.Report) *model.Violation {
	for i := range rep.Violations {
		if v := &rep.Violations[i]; SignatureOf(rep, v) == g {
			return v
		}
	}
	return nil
}

// In returns the finding's violation in a run that replays it. Violations of the same invariant with
// another cause may precede it.
func (f *Finding) In(rep *reports.Report) *model.Violation {
	return f.Signature().In(rep)
}

// Signature returns the signature of the finding's violation.
func (f *Finding) Signature() Signature { return Signature{f.Cause.Signature(), f.Faults > 0} }

// faults returns the number of faults before a violation.
func faults(h *model.History, v *model.Violation) (n int) {
	for i := range h.Events[:v.To] {
		if h.Events[i].Kind == model.FaultEvent {
			n++
		}
	}
	return n
}
