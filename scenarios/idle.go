package scenarios

import (
	"strings"

	"ipamsim/reports"
	"ipamsim/sim/kube"
)

// idle lists what was to happen in a run and did not: actions without effect, and faults if
// the run had no message that could have met one.
func (s *Scenario) idle(rep *reports.Report, gates *kube.Gates) (out []reports.Idle) {
	if rep.History == nil {
		return nil
	}
	for i := range rep.History.Events {
		if e := &rep.History.Events[i]; e.Idle {
			out = append(out, reports.Idle{At: e.At, What: e.Text, Why: e.Err})
		}
	}
	f := s.Doc.Spec.Faults
	if f.Max > 0 && len(f.Only) > 0 && !s.Doc.Spec.MayFail && !rep.Stopped && rep.Trace != nil && !rep.Trace.Exposed {
		out = append(out, reports.Idle{At: rep.Virtual, What: "faults", Why: "no message of the run that can fail is one of spec.faults.only: " + strings.Join(f.Only, ", ")})
	}
	if s.Doc.Spec.MayFail || rep.Stopped {
		return out
	}
	for _, name := range gates.Unused() {
		out = append(out, reports.Idle{What: "feature gate " + name, Why: "nothing that is simulated has consulted it"})
	}
	return out
}
