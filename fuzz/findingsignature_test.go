package fuzz_test

import (
	"slices"
	"testing"

	"ipamsim/fuzz/cause"
	"ipamsim/fuzz/finding"
	"ipamsim/model"
	"ipamsim/model/invariant"
	"ipamsim/reports"
	"ipamsim/scenarios"
	"ipamsim/sim"
)

// brokenRun returns a report of one step at which an invariant broke.
func brokenRun(actor, verb, resource string, events ...model.Event) *reports.Report {
	r := &sim.Request{Verb: verb, Resource: resource}
	st := &sim.Step{Decision: sim.Decision{Step: 1, Choice: sim.Choice{Op: sim.Op{Actor: sim.ActorID(actor), Seq: 1, Kind: sim.Write, Request: r}}}}
	return &reports.Report{
		Trace: &sim.Trace{Steps: []*sim.Step{st}}, History: &model.History{Events: events}, Ledger: &model.Ledger{}, Stopped: true,
		Violations: []model.Violation{{Invariant: "unbacked-sandbox", Step: 1, To: len(events)}},
	}
}

// A bug in two scenarios and in two datastores has the same signature. Another write, or a fault
// before it, makes another signature.
func TestSignature(t *testing.T) {
	of := func(r *reports.Report) finding.Signature { return finding.SignatureOf(r, &r.Violations[0]) }
	want := of(brokenRun("cni-del/default/web-0/eth0", "Update", "block"))
	coded := brokenRun("cni-del/x/y", "PUT", "ipamblocks")
	coded.Violations[0].Invariant = invariant.OutOfPool.Name
	reworded := brokenRun("cni-del/x/y", "PUT", "ipamblocks")
	reworded.Violations[0].Message = "in other words"
	for _, tt := range []struct {
		name string
		rep  *reports.Report
		same bool
	}{
		{"in other words", reworded, true},
		{"another pod, another datastore", brokenRun("cni-del/kube-system/db-abc/eth0~2", "PUT", "ipamblocks"), true},
		{"another process", brokenRun("ipam-controller", "PUT", "ipamblocks"), false},
		{"after a fault", brokenRun("cni-del/x/y", "PUT", "ipamblocks", model.Event{Step: 1, Kind: model.FaultEvent}), false},
		{"of another kind", coded, false},
	} {
		if got := of(tt.rep); (got == want) != tt.same || (got.String() == want.String()) != tt.same {
			t.Errorf("%s: %+v, the same: %v, want %v", tt.name, got, got == want, tt.same)
		}
	}
}

// The signature of a failure after faults does not match a run without faults, nor the reverse.
func TestFaultsNeitherComeNorGo(t *testing.T) {
	clean := brokenRun("cni-del/x/y", "PUT", "ipamblocks")
	hurt := brokenRun("cni-del/x/y", "PUT", "ipamblocks", model.Event{Kind: model.FaultEvent})
	for _, tt := range []struct {
		locked, candidate *reports.Report
		fails             bool
	}{{clean, clean, true}, {clean, hurt, false}, {hurt, clean, false}, {hurt, hurt, true}} {
		lock := finding.SignatureOf(tt.locked, &tt.locked.Violations[0])
		if got := lock.In(tt.candidate) != nil; got != tt.fails {
			t.Errorf("faulted %v, the candidate fails in the same way: %v, want %v", lock.Faulted, got, tt.fails)
		}
	}
}

// A finding without shrinking lists the other violations of its step.
func TestFindingNamesOthersOfItsStep(t *testing.T) {
	rep := brokenRun("cni-del/x/y", "PUT", "ipamblocks")
	rep.Violations = append(rep.Violations,
		model.Violation{Invariant: "handle-count", Step: 1}, model.Violation{Invariant: "affinity-mismatch", Step: 1},
		model.Violation{Invariant: "handle-count", Step: 1}, model.Violation{Invariant: "unbacked-sandbox", Step: 1},
		model.Violation{Invariant: "duplicate-address", Step: 2})
	v := &rep.Violations[0]
	got := finding.New(&scenarios.Scenario{}, rep, v, nil, cause.Of(rep, v)).Also
	if want := []string{"affinity-mismatch", "handle-count"}; !slices.Equal(got, want) {
		t.Errorf("also %v, want %v", got, want)
	}
}
