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

// brokenRun is a report of one step at which an invariant broke.
func brokenRun(actor, verb, resource string, events ...model.Event) *reports.Report {
	r := &sim.Request{Verb: verb, Resource: resource}
	st := &sim.Step{Decision: sim.Decision{Step: 1, Choice: sim.Choice{Op: sim.Op{Actor: sim.ActorID(actor), Seq: 1, Kind: sim.Write, Request: r}}}}
	return &reports.Report{
		Trace: &sim.Trace{Steps: []*sim.Step{st}}, History: &model.History{Events: events}, Ledger: &model.Ledger{}, Stopped: true,
		Violations: []model.Violation{{Invariant: "unbacked-sandbox", Step: 1, To: len(events)}},
	}
}

// One bug in two worlds, in two datastores, has one signature; what broke it, or
// that a fault came before it, makes another.
func TestSignature(t *testing.T) {
	of := func(r *reports.Report) finding.Signature { return finding.SignatureOf(r, &r.Violations[0]) }
	want := of(brokenRun("cni-del/default/web-0/eth0", "Update", "block"))
	coded := brokenRun("cni-del/x/y", "PUT", "ipamblocks")
	coded.Violations[0].Invariant = invariant.OutOfPool.Name
	told := brokenRun("cni-del/x/y", "PUT", "ipamblocks")
	told.Violations[0].Message = "told in other words"
	for _, tt := range []struct {
		name string
		rep  *reports.Report
		same bool
	}{
		{"in other words", told, true},
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

// A run with faults does not stand for one without, nor the other way round.
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

// A finding of a run as it was recorded names what else was found at its step.
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
