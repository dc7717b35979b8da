package fuzz_test

import (
	"testing"

	"ipamsim/fuzz/cause"
	"ipamsim/model"
	"ipamsim/reports"
	"ipamsim/sim"
	"ipamsim/sim/cluster"
	"ipamsim/sim/cluster/action"
)

// A cause knows the actions that make a disk or a cloud fail by the names that they record.
func TestCauseLabelsActions(t *testing.T) {
	for _, a := range []cluster.Action{&action.DiskFault{}, &action.CloudFault{}, &action.PluginFault{}} {
		rep := &reports.Report{Trace: &sim.Trace{}, History: &model.History{}, Ledger: &model.Ledger{}}
		rep.History.Add(model.Event{Kind: model.FaultEvent, Deed: cluster.Deed(a)})
		rep.Violations = []model.Violation{{Invariant: "stuck", To: len(rep.History.Events)}}
		if got := cause.Of(rep, &rep.Violations[0]).Label; got != cause.Faulted {
			t.Errorf("%s: %s, want %s", cluster.Deed(a), got, cause.Faulted)
		}
	}
}
