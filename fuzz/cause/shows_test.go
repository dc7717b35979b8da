package cause_test

import (
	"testing"

	"ipamsim/fuzz/cause"
	"ipamsim/reports"
	"ipamsim/sim"
)

// A run that was cut short shows nothing about the order: invariants that are checked at the
// end were not checked.
func TestShowsOnlyWhatEnded(t *testing.T) {
	step := func(actor string) *sim.Step {
		return &sim.Step{Decision: sim.Decision{Choice: sim.Choice{Op: sim.Op{Actor: sim.ActorID(actor), Seq: 1}}}}
	}
	race := cause.Race{Read: step("a"), Change: step("b")}
	swapped := &sim.Trace{Steps: []*sim.Step{step("b"), step("a")}}
	for _, tt := range []struct {
		name string
		rep  reports.Report
		want bool
	}{
		{"ended", reports.Report{Trace: swapped, Verdict: reports.Pass}, true},
		{"cut short", reports.Report{Trace: swapped, Verdict: reports.Unknown, Reason: sim.ErrSteps.Error()}, false},
		{"cut short, and something else broke", reports.Report{Trace: swapped, Verdict: reports.Fail, Reason: sim.ErrSteps.Error()}, false},
		{"not swapped", reports.Report{Trace: &sim.Trace{Steps: []*sim.Step{step("a"), step("b")}}, Verdict: reports.Pass}, false},
	} {
		if got := race.Shows(&tt.rep); got != tt.want {
			t.Errorf("%s: %t", tt.name, got)
		}
	}
}
