package finding_test

import (
	"slices"
	"strings"
	"testing"

	"ipamsim/fuzz/finding"
	"ipamsim/model"
	"ipamsim/reports"
	"ipamsim/scenarios"
	"ipamsim/sim"
	"ipamsim/sim/cluster"
)

// run is a report of one step at which an invariant broke.
func run(actor, key, message string, events ...model.Event) *reports.Report {
	verb, path, _ := strings.Cut(key, " ")
	resource, _, _ := strings.Cut(path, "/")
	r := &sim.Request{Verb: verb, Resource: resource}
	st := &sim.Step{Decision: sim.Decision{Step: 1, Choice: sim.Choice{Op: sim.Op{Actor: sim.ActorID(actor), Seq: 1, Kind: sim.Write, Request: r}}}}
	return &reports.Report{
		Trace: &sim.Trace{Steps: []*sim.Step{st}}, History: &model.History{Events: events}, Stopped: true,
		Violations: []model.Violation{{Invariant: "unbacked-sandbox", Step: 1, To: len(events), Message: message}},
	}
}

var (
	world = &scenarios.Scenario{Objects: []cluster.Object{{Name: "net", Body: []byte(`{"metadata":{"name":"net"}}`)}}}
	other = &scenarios.Scenario{Objects: []cluster.Object{{Name: "blue", Body: []byte(`{"spec":{"config":"{\"name\": \"blue\"}"}}`)}}}
)

// One bug in two worlds, in two datastores, has one signature; what broke it, or
// that a fault came before it, makes another.
func TestSignature(t *testing.T) {
	first := run("cni-del/default/web-0/eth0", "Update block",
		"default/web-0 on worker-1 has 10.0.0.1 in network net since 1.5s, but no claim says so")
	of := func(s *scenarios.Scenario, r *reports.Report) finding.Signature {
		return finding.SignatureOf(s, r, &r.Violations[0])
	}
	want := finding.Signature{Invariant: "unbacked-sandbox", Message: "on has in network since but no claim says so", At: "cni-del PUT ipamblocks proceed"}
	if got := of(world, first); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	const words = "kube-system/db-abc on node.example has fd00::1 in network blue since 3m, but no claim says so"
	tests := []struct {
		name string
		rep  *reports.Report
		same bool
	}{
		{"another pod, another datastore", run("cni-del/kube-system/db-abc/eth0~2", "PUT ipamblocks", words), true},
		{"another process", run("ipam-controller", "PUT ipamblocks", words), false},
		{"an ADD ended there", run("cni-del/x/y", "PUT ipamblocks", words, model.Event{Step: 1, Kind: model.AddEnd}), false},
		{"an ADD failed there", run("cni-del/x/y", "PUT ipamblocks", words, model.Event{Step: 1, Kind: model.AddEnd, Err: "no"}), true},
		{"after a fault", run("cni-del/x/y", "PUT ipamblocks", words, model.Event{Step: 1, Kind: model.FaultEvent}), false},
		{"for another reason", run("cni-del/x/y", "PUT ipamblocks", words+" and it is dead"), false},
	}
	for _, tt := range tests {
		if got := of(other, tt.rep); (got == want) != tt.same || (got.String() == want.String()) != tt.same {
			t.Errorf("%s: %+v, the same: %v, want %v", tt.name, got, got == want, tt.same)
		}
	}
}

// An ADD that ends on a timer of its own, between two steps, is what broke its pod's
// invariant, not the message that comes next. What was judged before, what comes
// after, and another pod's ADD are not.
func TestAddBetweenSteps(t *testing.T) {
	web, db := model.PodRef{Namespace: "default", Name: "web-0"}, model.PodRef{Namespace: "default", Name: "db-0"}
	end := func(p model.PodRef) model.Event { return model.Event{Step: 0, Kind: model.AddEnd, Pod: p} }
	contained := end(db)
	contained.Container = "5d41402abc4b"
	const handedOut, patch = "an address is handed out", "kubelet PATCH pods proceed"
	for _, tt := range []struct {
		name   string
		events []model.Event
		judged int
		want   string
	}{
		{"its ADD", []model.Event{end(web)}, 0, handedOut},
		{"its handle's", []model.Event{contained}, 0, handedOut},
		{"judged before", []model.Event{end(web), end(db)}, 1, patch},
		{"another pod's", []model.Event{end(db)}, 0, patch},
		{"none", nil, 0, patch},
	} {
		rep := run("kubelet/worker-1", "PATCH pods/default/web-0/status", "it broke", tt.events...)
		v := &rep.Violations[0]
		v.From, v.Objects = tt.judged, []model.Ref{{Kind: model.RefHandle, Name: "net.5d41402abc4b"}, {Kind: model.RefPod, Name: "default/web-0"}}
		rep.History.Add(model.Event{Step: 1, Kind: model.AddEnd, Pod: web}) // the next, after it was judged
		if got := finding.SignatureOf(world, rep, v).At; got != tt.want {
			t.Errorf("%s: broken at %q, want %q", tt.name, got, tt.want)
		}
	}
}

// A run with faults does not stand for one without, nor the other way round.
func TestFaultsNeitherComeNorGo(t *testing.T) {
	clean := run("cni-del/x/y", "PUT ipamblocks", "it broke")
	hurt := run("cni-del/x/y", "PUT ipamblocks", "it broke", model.Event{Kind: model.FaultEvent})
	for _, tt := range []struct {
		locked, candidate *reports.Report
		fails             bool
	}{{clean, clean, true}, {clean, hurt, false}, {hurt, clean, false}, {hurt, hurt, true}} {
		lock := finding.SignatureOf(world, tt.locked, &tt.locked.Violations[0])
		if got := lock.In(world, tt.candidate) != nil; got != tt.fails {
			t.Errorf("faulted %v, the candidate fails in the same way: %v, want %v", lock.Faulted, got, tt.fails)
		}
	}
}

// A finding of a run as it was recorded names what else was found at its step.
func TestAlso(t *testing.T) {
	rep := run("cni-del/x/y", "PUT ipamblocks", "it broke")
	rep.Violations = append(rep.Violations,
		model.Violation{Invariant: "handle-count", Step: 1}, model.Violation{Invariant: "affinity-mismatch", Step: 1},
		model.Violation{Invariant: "handle-count", Step: 1}, model.Violation{Invariant: "unbacked-sandbox", Step: 1},
		model.Violation{Invariant: "duplicate-address", Step: 2})
	got := finding.New(world, rep, &rep.Violations[0], nil).Also
	if want := []string{"affinity-mismatch", "handle-count"}; !slices.Equal(got, want) {
		t.Errorf("also %v, want %v", got, want)
	}
}
