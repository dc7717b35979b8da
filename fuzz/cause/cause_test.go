package cause_test

import (
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"ipamsim/fuzz/cause"
	"ipamsim/model"
	"ipamsim/reports"
	"ipamsim/sim"
	"ipamsim/sim/kube/exchange"
)

var (
	web  = model.PodRef{Namespace: "default", Name: "web-0"}
	db   = model.PodRef{Namespace: "default", Name: "db-0"}
	addr = netip.MustParseAddr("10.0.0.1")
)

// play is a run that is put together by hand.
type play struct {
	*testing.T
	rep reports.Report
	rec model.Snapshot
}

func newPlay(t *testing.T) *play {
	p := &play{T: t, rep: reports.Report{Trace: &sim.Trace{}, History: &model.History{}, Ledger: &model.Ledger{}}}
	p.rep.Ledger.Note(0, model.Snapshot{}) // nothing is there before the first step
	return p
}

// step is a message: actor, verb and path.
func (p *play) step(kind sim.OpKind, actor, verb, path string) *sim.Step {
	resource, name, _ := strings.Cut(path, "/")
	n := len(p.rep.Trace.Steps) + 1
	st := &sim.Step{Decision: sim.Decision{Step: n, At: time.Duration(n), Choice: sim.Choice{Op: sim.Op{
		Actor: sim.ActorID(actor), Seq: n, Kind: kind, Request: &sim.Request{Verb: verb, Resource: resource, Name: name, Path: path},
	}}}}
	p.rep.Trace.Steps = append(p.rep.Trace.Steps, st)
	return st
}

// claims is what the record says after the last step.
func (p *play) claims(all ...model.Claim) {
	p.rec = model.Snapshot{Claims: all}
	p.rep.Ledger.Note(len(p.rep.Trace.Steps), p.rec)
}

func (p *play) event(e model.Event) {
	e.Step = len(p.rep.Trace.Steps)
	p.rep.History.Add(e)
}

func (p *play) breaks(invariant string, objects ...model.Ref) *model.Violation {
	p.rep.Violations = append(p.rep.Violations, model.Violation{
		Invariant: invariant, Step: len(p.rep.Trace.Steps), Objects: objects, To: len(p.rep.History.Events),
	})
	return &p.rep.Violations[len(p.rep.Violations)-1]
}

func (p *play) want(v *model.Violation, key string) {
	p.Helper()
	if got := cause.Of(&p.rep, v).Key(); got != key {
		p.Errorf("%s\nwant %s", got, key)
	}
}

func claim(of model.PodRef, container string) model.Claim {
	return model.Claim{Pool: "10.0.0.0-24", Addr: addr, Pod: of, Container: container}
}

// The reconciler takes a live pod's address away, and it is given to another: both are
// what the reconciler did.
func TestOneCauseOfTwoViolations(t *testing.T) {
	p := newPlay(t)
	p.step(sim.Write, "cni-add/default/web-0/net1", "PATCH", "ippools/a")
	p.claims(claim(web, "c1"))
	p.step(sim.Write, "ip-reconciler~2", "PATCH", "ippools/a")
	p.claims()
	first := p.breaks("unbacked-sandbox", model.AddressOf(addr), model.PodOf(web))
	p.step(sim.Write, "cni-add/default/db-0/net1", "PATCH", "ippools/a")
	p.claims(claim(db, "c2"))
	p.event(model.Event{Kind: model.AddEnd, Pod: db, Container: "c2"})
	second := p.breaks("duplicate-address", model.AddressOf(addr), model.PodOf(web), model.PodOf(db))
	for _, v := range []*model.Violation{first, second} {
		p.want(v, "unbacked-sandbox, wrote ip-reconciler PATCH ippools removed")
	}
}

// An address that was never claimed is the ADD's own doing, whoever wrote last.
func TestHandedOutForNothing(t *testing.T) {
	p := newPlay(t)
	p.step(sim.Write, "cni-add/default/db-0/net1", "PATCH", "ippools/a")
	p.claims(claim(db, "c1"))
	p.step(sim.Write, "cni-del/default/db-0/net1", "PATCH", "ippools/a")
	p.claims()
	p.step(sim.Read, "cni-add/default/web-0/net1", "GET", "ippools/a")
	p.event(model.Event{Kind: model.AddEnd, Actor: "cni-add/default/web-0/net1", Pod: web, Addrs: []netip.Addr{addr}})
	p.want(p.breaks("unbacked-sandbox", model.AddressOf(addr), model.PodOf(web)), "unbacked-sandbox, handed cni-add GET ippools")
}

// What an operator breaks by hand is that, whichever invariant sees it.
func TestOperatorsWrite(t *testing.T) {
	p := newPlay(t)
	p.claims(claim(web, "c1"))
	p.step(sim.Write, "operator~1", "DELETE", "ippools/a")
	p.claims()
	p.event(model.Event{Kind: model.Operator, Action: model.ActionRef{Class: model.OperatorAction}})
	for _, name := range []string{"unbacked-sandbox", "overlap-reservation"} {
		v := p.breaks(name, model.AddressOf(addr), model.PodOf(web))
		p.want(v, "wrote operator DELETE ippools")
		if c := cause.Of(&p.rep, v); c.Trigger != cause.OperatorAction {
			t.Errorf("%s: %s", name, c.Trigger)
		}
	}
}

// What an operator wrote past the manager is the cause of what the manager makes of it.
func TestOperatorWriteIsCause(t *testing.T) {
	p := newPlay(t)
	p.step(sim.Write, "cni-add/default/web-0/net1", "PATCH", "ippools/a")
	p.claims(claim(web, "c1"))
	p.step(sim.Write, "operator~1", "PATCH", "ippools/a")
	p.claims(claim(db, "c1"))
	p.step(sim.Write, "cni-del/default/db-0/net1", "PATCH", "ippools/a")
	p.claims()
	v := p.breaks("unbacked-sandbox", model.AddressOf(addr), model.PodOf(web))
	p.want(v, "wrote operator PATCH ippools")
	if got, want := cause.Apart(&p.rep, v).Key(), "unbacked-sandbox, wrote cni-del PATCH ippools removed"; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}

// Whoever deletes a node whose slice stands in its object has done nothing to the record
// that managers do not live with.
func TestDeletedNodeIsNoOperatorWrite(t *testing.T) {
	p := newPlay(t)
	p.step(sim.Write, "kube-controller-manager", "PATCH", "nodes/a")
	p.claims(claim(web, "c1"))
	p.step(sim.Write, "operator~1", "DELETE", "nodes/a")
	p.claims()
	p.step(sim.Write, "kube-controller-manager", "PATCH", "nodes/b")
	p.claims(claim(db, "c2"))
	p.want(p.breaks("slice-conflict", model.AddressOf(addr)), "slice-conflict, wrote kube-controller-manager PATCH nodes new")
}

// The name of a finding leaves out what of one mistake depends on the schedule; what other
// code did, or for whom, is another name.
func TestName(t *testing.T) {
	const (
		release = "ipam.ipamClient.ReleaseIPs.func1"
		assign  = "ipam.ipamClient.AutoAssign"
	)
	wrote := func(process, resource, outcome string, functions ...string) cause.Link {
		return cause.Link{Role: cause.Wrote, Process: process, Resource: resource, Outcome: outcome, Functions: functions}
	}
	of := func(invariant, code string, links ...cause.Link) cause.Cause {
		return cause.Cause{Invariant: invariant, Code: code, Links: links}
	}
	ended := func(outcome string) cause.Link {
		return cause.Link{Role: cause.Ended, Process: "cni-del", Outcome: outcome}
	}
	unminded := func(resource string) []cause.Link {
		return []cause.Link{{Role: cause.Ended, Process: "cni-del", Verb: "GET", Resource: resource, Outcome: "DEL ended"}, {Role: cause.Fault, Process: "cni-del", Verb: "GET", Resource: resource, Outcome: "error"}}
	}
	fault := cause.Link{Role: cause.Fault, Process: "cni-add", Verb: "PUT", Resource: "ipamblocks", Outcome: "error"}
	unread := cause.Link{Role: cause.Fault, Process: "ipam-gc", Verb: "LIST", Resource: "pods", Outcome: "error"}
	passed := cause.Link{Role: cause.Passed, Process: "ipam-gc", Outcome: "ended"}
	failed := cause.Link{Role: cause.Failed, Process: "cni-add", Resource: "ippools"}
	gone := wrote("ipam-gc", "ipamblocks", "removed", "ipam.blockReaderWriter.updateBlock", release)
	counted := wrote("cni-add", "ipamhandles", "counted", "ipam.blockReaderWriter.updateHandle", assign)
	counting := func(outcome, function string) cause.Cause {
		return of("handle-count", "counted-too-many", wrote("tunnel-addresses", "ipamhandles", outcome, "ipam.blockReaderWriter.updateHandle", function))
	}
	reservation := func(process, whose string) cause.Cause {
		l := wrote(process, "overlappingrangeipreservations", "removed", "UpdateOverlappingRangeAllocation", "IPManagement.func1")
		l.Row, l.Whose = model.RefReservation, cause.Whose(whose)
		return of("overlap-reservation", "x", l)
	}
	tool := func(resource, function string) cause.Cause {
		return of("unbacked-sandbox", "x", wrote("operator", resource, "", "w", function))
	}
	manner := func(code, manner string) cause.Cause {
		l := wrote("cni-add", "blockaffinities", "changed", "updateAffinity", "ipam.ipamClient.AssignIP")
		l.Manner = manner
		return of("max-blocks", code, l)
	}
	undone := func(whose cause.Whose) cause.Cause {
		l := wrote("cni-add", "ipamblocks", "removed", "updateBlock", release)
		l.Whose = whose
		return of("unbacked-sandbox", "x", l)
	}
	crashed := func(function string) cause.Cause {
		return of("actor-crash", "", cause.Link{Role: cause.Crashed, Functions: []string{function, "cache.OnDelete"}})
	}
	absent := cause.Link{Role: cause.Ended, Process: "cni-del", Verb: "GET", Resource: "nodeslicepools", Outcome: "DEL ended", Manner: "in spite of an error"}
	staleRead := cause.Link{Role: cause.Fault, Process: "tunnel-addresses", Verb: "LIST", Resource: "nodes", Outcome: "stale"}
	for _, tt := range []struct {
		name string
		a, b cause.Cause
		same bool
	}{
		{"a block that is empty is deleted", of("unbacked-sandbox", "x", gone),
			of("unbacked-sandbox", "x", wrote("ipam-controller", "ipamblocks", "removed", "ipam.blockReaderWriter.deleteBlock", release)), true},
		{"an ADD undoes what it did", of("unbacked-sandbox", "x", gone),
			of("unbacked-sandbox", "x", wrote("cni-add", "ipamblocks", "removed", "ipam.blockReaderWriter.updateBlock", release)), false},
		{"of a deleted pod", of("unbacked-sandbox", "x", gone), func() cause.Cause {
			l := gone
			l.Whose = cause.Deleted
			return of("unbacked-sandbox", "x", l)
		}(), false},
		{"of a pod that is gone, or not yet", func() cause.Cause {
			l := gone
			l.Whose = cause.Terminating
			return of("unbacked-sandbox", "x", l)
		}(), func() cause.Cause {
			l := gone
			l.Whose = cause.Deleted
			return of("unbacked-sandbox", "x", l)
		}(), true},
		{"two see what was overwritten", of("unbacked-sandbox", "x", wrote("cni-add", "ippools", "changed")),
			of("overlap-reservation", "y", wrote("cni-add", "ippools", "changed")), true},
		{"but not what is new", of("unbacked-sandbox", "x", wrote("cni-add", "ippools", "new")),
			of("overlap-reservation", "y", wrote("cni-add", "ippools", "new")), false},
		{"a handle, seen at rest", of("handle-count", "counted-too-many", counted), of("leftover-handle", "nothing-claimed", counted), true},
		{"a handle, by calico-node, after a fault", of("handle-count", "counted-too-many", counted),
			of("handle-count", "counted-too-many", wrote("tunnel-addresses", "ipamblocks", "counted", "ipam.blockReaderWriter.updateBlock", assign), fault), true},
		{"a handle, too few", of("handle-count", "counted-too-many", counted), of("handle-count", "counted-zero", counted), false},
		{"a handle, by another function", counting("counted", assign), counting("counted", "ipam.ipamClient.AssignIP"), true},
		{"a handle, in another way", counting("counted", assign), counting("counted again", assign), false},
		{"a reservation, by a daemon", reservation("cni-del", ""), reservation("pod-control-loop", ""), true},
		{"a reservation, another pod's", reservation("cni-del", "another pod's"), reservation("pod-control-loop", ""), false},
		{"what an ADD undoes, whosever", undone(""), undone(cause.Another), true},
		{"another request of a tool", tool("ipamblocks", "ReleasePoolAffinities"), tool("blockaffinities", "ReleasePoolAffinities"), true},
		{"another function of a tool", tool("ipamblocks", "ReleasePoolAffinities"), tool("ipamblocks", "ReleaseIPs"), false},
		{"a limit that nobody looked at", manner("in-one-pool", "unlisted"), manner("of-several-pools", "unlisted"), true},
		{"one that somebody did", manner("in-one-pool", ""), manner("of-several-pools", ""), false},
		{"another literal of a function", crashed("node.New.func1"), crashed("node.New.func2.1"), true},
		{"another function", crashed("node.New.func1"), crashed("node.Old.func1"), false},
		{"a DEL for which something was not there", of("unreleased-claim", "y", absent), of("leaked-claim", "x", unminded("ippools")...), true},
		{"read from a stale replica", of("unbacked-sandbox", "x", gone), of("unbacked-sandbox", "x", gone, staleRead), true},
		{"no DEL came to its end", of("leaked-claim", "x", ended("DEL failed")), of("leaked-claim", "x", ended("no DEL")), true},
		{"a pass left it", of("leaked-claim", "x", ended("no DEL")), of("leaked-claim", "x", ended("no DEL"), passed), false},
		{"a DEL succeeded, whatever came then", of("unreleased-claim", "y", ended("DEL ended")), of("leaked-claim", "x", ended("DEL ended"), passed), true},
		{"a DEL that did not mind an error", of("leaked-claim", "x", unminded("ippools")...), of("unreleased-claim", "y", unminded("nodeslicepools")...), true},
		{"a DEL that did, and one that met none", of("leaked-claim", "x", unminded("ippools")...), of("leaked-claim", "x", unminded("ippools")[0]), false},
		{"a DEL succeeded", of("leaked-claim", "x", ended("no DEL")), of("leaked-claim", "x", ended("DEL ended")), false},
		{"a write failed, and a second one", of("unbacked-sandbox", "x", failed), of("unbacked-sandbox", "x", failed, fault), true},
		{"another write failed", of("unbacked-sandbox", "x", gone), of("unbacked-sandbox", "x", gone, fault), true},
		{"what an ADD asked last", of("unbacked-sandbox", "x", cause.Link{Role: cause.Handed, Process: "cni-add", Resource: "ippools", Functions: []string{"a", "entry"}}),
			of("unbacked-sandbox", "x", cause.Link{Role: cause.Handed, Process: "cni-add", Resource: "leases", Functions: []string{"b", "entry"}}), true},
		{"an error may be taken for an answer", of("unbacked-sandbox", "x", gone), of("unbacked-sandbox", "x", gone, unread), false},
		{"an error taken for a full pool", of("spurious-exhaustion", "x", cause.Link{Role: cause.Refused, Process: "cni-add", Functions: []string{assign}}, fault),
			of("spurious-exhaustion", "x", cause.Link{Role: cause.Refused, Process: "cni-add", Functions: []string{release}}, unread), true},
		{"a fault that no link tells", of("spurious-exhaustion", "x", cause.Link{Role: cause.Refused}), of("spurious-exhaustion", "x", cause.Link{Role: cause.Refused}, fault), false},
		{"a race that was tried", of("unbacked-sandbox", "x", gone),
			of("unbacked-sandbox", "x", gone, cause.Link{Role: cause.Read, Resource: "nodes"}, cause.Link{Role: cause.Changed, Resource: "nodes"}), true},
	} {
		if got := tt.a.Name() == tt.b.Name(); got != tt.same {
			t.Errorf("%s: %q and %q", tt.name, tt.a.Name(), tt.b.Name())
		}
	}
}

// A handle that counts too many of a living sandbox is what counted it so, and not that
// there was no DEL.
func TestCountedTooOften(t *testing.T) {
	handle := model.Ref{Kind: model.RefHandle, Name: "net.c1"}
	for code, want := range map[string]string{
		"counted-too-many": "leftover-handle, wrote cni-add PATCH ippools new",
		"nothing-claimed":  "leftover-handle, ended no DEL",
	} {
		p := newPlay(t)
		p.step(sim.Write, "cni-add/default/web-0/net1", "PATCH", "ippools/a")
		c := claim(web, "c1")
		c.Handle = handle.Name
		p.claims(c)
		p.event(model.Event{Kind: model.AddEnd, Pod: web, Container: "c1"})
		v := p.breaks("leftover-handle", handle, model.Ref{Kind: model.RefContainer, Name: "c1"})
		v.Code = code
		p.want(v, want)
	}
}

// A handle that was counted up once too often is that, whoever counts it down later.
func TestCountedOnceTooOften(t *testing.T) {
	handle := model.Ref{Kind: model.RefHandle, Name: "net.c1"}
	block := netip.MustParsePrefix("10.0.0.0/24")
	held := claim(web, "c1")
	held.Handle = handle.Name
	for code, after := range map[string]struct {
		claimed int
		lost    bool
		how     string
	}{"counted-too-many": {1, true, "counted again, after a fault"}, "nothing-claimed": {0, false, "counted"}} {
		p := newPlay(t)
		counts := func(n int, claims ...model.Claim) {
			p.rep.Ledger.Note(len(p.rep.Trace.Steps), model.Snapshot{
				Pools:   []model.Pool{{Name: held.Pool, Range: block}},
				Handles: []model.Handle{{ID: handle.Name, Counts: []model.HandleCount{{Block: block, Count: n}}}}, Claims: claims,
			})
		}
		const add, release = "cni-add/default/web-0/net1", "ipam-gc~1"
		counts(0)
		p.step(sim.Write, add, "PATCH", "ipamhandles/a")
		if after.lost {
			p.rep.Trace.Steps[0].Choice.Outcome = sim.LoseReply
			p.event(model.Event{Kind: model.FaultEvent, Action: model.ActionRef{Class: model.InjectedFault}})
		}
		counts(1)
		p.step(sim.Write, add, "PUT", "ipamhandles/a")
		counts(2)
		p.step(sim.Write, add, "PUT", "ipamblocks/a")
		counts(2, held)
		p.event(model.Event{Kind: model.AddEnd, Pod: web, Container: "c1"})
		if after.claimed == 0 {
			p.step(sim.Write, release, "PUT", "ipamblocks/a")
			counts(2)
			p.step(sim.Write, release, "PUT", "ipamhandles/a")
			counts(1)
		}
		v := p.breaks("leftover-handle", handle, model.BlockOf(block), model.Ref{Kind: model.RefContainer, Name: "c1"})
		v.Code = code
		p.want(v, "leftover-handle, wrote cni-add PATCH ipamhandles "+after.how)
		v = p.breaks("handle-count", handle, model.BlockOf(block))
		v.Code = code
		p.want(v, "handle-count, counted-too-many, wrote cni-add PATCH ipamhandles "+after.how)
	}
}

// An excluded address is handed out in one way or another: by who searches a network's
// range, or a node's slice of it.
func TestExcludedAddressOfASlice(t *testing.T) {
	for node, want := range map[string]string{
		"":         "excluded-address, wrote cni-add PATCH ippools handed out",
		"worker-1": "excluded-address, wrote cni-add PATCH ippools handed out from a node's pool",
	} {
		p := newPlay(t)
		p.step(sim.Write, "cni-add/default/web-0/net1", "PATCH", "ippools/a")
		c := claim(web, "c1")
		p.rep.Ledger.Note(0, model.Snapshot{})
		p.rep.Ledger.Note(1, model.Snapshot{Pools: []model.Pool{{Name: c.Pool, Node: node}}, Claims: []model.Claim{c}})
		p.want(p.breaks("excluded-address", model.AddressOf(addr)), want)
	}
	// That the claim itself failed, so that only the reservation was written, is no other way.
	p := newPlay(t)
	p.step(sim.Write, "cni-add/default/web-0/net1", "POST", "overlappingrangeipreservations/a")
	p.rep.Ledger.Note(1, model.Snapshot{
		Pools:        []model.Pool{{Name: "a", Range: netip.MustParsePrefix("10.0.0.0/28"), Node: "worker-1"}},
		Reservations: []model.Reservation{{Name: "a", Addr: addr, Pod: web}},
	})
	v := p.breaks("excluded-address", model.AddressOf(addr), model.PodOf(web))
	if got, want := cause.Of(&p.rep, v).Name(), "excluded-address, wrote cni-add handed out from a node's pool"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// What stays is told by how the life of its sandbox ended, and by the passes after it.
func TestWhatStays(t *testing.T) {
	const del = "cni-del/default/web-0/net1"
	for _, tt := range []struct {
		name, want string
		then       func(p *play)
	}{
		{"no DEL", "leaked-claim, ended no DEL", func(*play) {}},
		{"it ended well", "leaked-claim, ended cni-del GET ippools DEL ended", func(p *play) {
			p.step(sim.Read, del, "GET", "ippools/a")
			p.event(model.Event{Kind: model.DelEnd, Actor: del, Container: "c1"})
		}},
		{"it failed, and a pass did not mend it", "leaked-claim, ended cni-del DEL failed, passed ip-reconciler ended", func(p *play) {
			p.step(sim.Read, del, "GET", "ippools/a")
			p.event(model.Event{Kind: model.DelEnd, Actor: del, Container: "c1", Err: "no"})
			p.step(sim.Read, "ip-reconciler~1", "LIST", "ippools")
			p.step(sim.Read, "ip-reconciler~1", "LIST", "pods")
			p.event(model.Event{Kind: model.Reconciled, Actor: "ip-reconciler~1"})
			p.step(sim.Read, "ipam-gc~1", "LIST", "ipamblocks") // another manager's
			p.event(model.Event{Kind: model.Reconciled, Actor: "ipam-gc~1"})
		}},
		{"it came back", "leaked-claim, wrote cni-add PATCH ippools new", func(p *play) {
			p.step(sim.Write, del, "PATCH", "ippools/a")
			p.claims()
			p.event(model.Event{Kind: model.DelEnd, Actor: del, Container: "c1"})
			p.step(sim.Write, "cni-add/default/web-0/net1", "PATCH", "ippools/a")
			p.claims(claim(web, "c1"))
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := newPlay(t)
			p.step(sim.Write, "cni-add/default/web-0/net1", "PATCH", "ippools/a")
			p.claims(claim(web, "c1"))
			p.event(model.Event{Kind: model.AddEnd, Pod: web, Container: "c1"})
			tt.then(p)
			p.want(p.breaks("leaked-claim", model.AddressOf(addr), model.Ref{Kind: model.RefContainer, Name: "c1"}), tt.want)
		})
	}
}

// A fault is part of the cause if the process that broke it was told of an error and went
// on. One that hit another of its kind, or a write of the same objects, is told besides; one
// that only took somebody's time is not.
func TestFaultsOfACause(t *testing.T) {
	p := newPlay(t)
	inject := func(o sim.Outcome, actor, verb, path string, kind sim.OpKind) {
		p.step(kind, actor, verb, path).Choice.Outcome = o
	}
	inject(sim.LoseReply, "kubelet/n", "PATCH", "pods/x", sim.Write)
	inject(sim.FailBefore, "cni-add/default/web-0/net1", "GET", "leases/x", sim.Read)
	inject(sim.LoseReply, "cni-add/default/web-0/net1", "PATCH", "ippools/b", sim.Write)
	inject(sim.Crash, "ip-reconciler", "GET", "pods/y", sim.Read)
	p.claims(claim(web, "c1"))
	inject(sim.FailBefore, "ip-reconciler~2", "GET", "pods/y", sim.Read)
	p.step(sim.Write, "ip-reconciler~2", "PATCH", "ippools/a")
	p.claims()
	v := p.breaks("unbacked-sandbox", model.AddressOf(addr), model.PodOf(web))
	p.want(v, "unbacked-sandbox, wrote ip-reconciler PATCH ippools removed, fault ip-reconciler GET pods error")
	aside := 0
	for _, l := range cause.Of(&p.rep, v).Links {
		if l.Aside {
			aside++
		}
	}
	if aside != 2 {
		t.Errorf("%d links stand aside, want the lost reply and the crash", aside)
	}
}

// An ADD that goes on though its claim was refused returns an address that nobody holds: the
// write that failed is part of the cause. One that it tried again with success is not.
func TestFailedOnTheWay(t *testing.T) {
	const add = "cni-add/default/web-0/net1"
	for _, tt := range []struct {
		name, want string
		again      bool
	}{
		{"it went on", "unbacked-sandbox, handed cni-add, failed cni-add PATCH ippools", false},
		{"it tried again", "unbacked-sandbox, handed cni-add PATCH ippools", true},
	} {
		p := newPlay(t)
		p.step(sim.Write, add, "PATCH", "ippools/a").Choice.Outcome = sim.FailBefore
		if tt.again {
			p.step(sim.Write, add, "PATCH", "ippools/a")
		}
		p.step(sim.Write, add, "PUT", "leases/a")
		p.event(model.Event{Kind: model.AddEnd, Actor: add, Pod: web, Addrs: []netip.Addr{addr}})
		v := p.breaks("unbacked-sandbox", model.AddressOf(addr), model.PodOf(web))
		if got := cause.Of(&p.rep, v).Signature(); got != tt.want {
			t.Errorf("%s: %s\nwant %s", tt.name, got, tt.want)
		}
	}
}

// An address that two hold was given back before, or stands in another pool still.
func TestFreedBefore(t *testing.T) {
	p := newPlay(t)
	p.step(sim.Write, "cni-add/default/web-0/net1", "PATCH", "ippools/a")
	p.claims(claim(web, "c1"))
	p.step(sim.Write, "cni-del/default/web-0/net1", "PATCH", "ippools/a")
	p.claims()
	p.step(sim.Write, "cni-add/default/db-0/net1", "PATCH", "ippools/a")
	p.claims(claim(db, "c2"))
	p.want(p.breaks("duplicate-address", model.AddressOf(addr), model.PodOf(web), model.PodOf(db)),
		"duplicate-address, wrote cni-add PATCH ippools new, freed cni-del PATCH ippools")

	p = newPlay(t)
	p.step(sim.Write, "cni-add/default/web-0/net1", "PATCH", "ippools/a")
	p.claims(claim(web, "c1"))
	p.step(sim.Write, "cni-add/default/db-0/net1", "PATCH", "ippools/b")
	other := claim(db, "c2")
	other.Pool = "another"
	p.claims(claim(web, "c1"), other)
	p.want(p.breaks("duplicate-address", model.AddressOf(addr), model.PodOf(web), model.PodOf(db)),
		"duplicate-address, wrote cni-add PATCH ippools new")
}

// Of what a process had read for its write, that is told which somebody else changed in
// between, as far as it is about the same.
func TestStale(t *testing.T) {
	p := newPlay(t)
	p.step(sim.Read, "ip-reconciler", "GET", "ippools/a")
	p.step(sim.Write, "cni-add/default/db-0/net1", "PATCH", "ippools/a")
	p.step(sim.Read, "ip-reconciler", "GET", "ippools/a") // it has seen it
	list := p.step(sim.Read, "ip-reconciler", "LIST", "pods")
	p.step(sim.Write, "kubelet/n", "PATCH", "pods/other")
	change := p.step(sim.Write, "kubelet/n", "PATCH", "pods/web-0")
	lost := p.step(sim.Write, "kubelet/n", "PATCH", "pods/web-0")
	lost.Choice.Outcome = sim.FailBefore
	change.Choice.Op.Request.Namespace = "default"
	p.claims(claim(web, "c1"))
	p.step(sim.Write, "ip-reconciler", "PATCH", "ippools/a")
	p.claims()
	v := p.breaks("unbacked-sandbox", model.AddressOf(addr), model.PodOf(web))
	c := cause.Of(&p.rep, v)
	races := cause.Stale(&p.rep, v, c)
	if want := []cause.Race{{Read: list, Change: change}}; !slices.Equal(races, want) {
		t.Fatalf("%v, want %v", races, want)
	}
	look := c.Signature()
	c.Decided(&p.rep, races[0])
	c.Decided(&p.rep, races[0]) // another of its kind says no more
	if want := "read LIST pods, changed pods"; c.Rest() != want || c.Signature() != look {
		t.Errorf("%s: %s, want %s", c.Signature(), c.Rest(), want)
	}
	if got, want := c.Races(v), []model.Race{{Invariant: "unbacked-sandbox", Read: 4, Change: 6, Use: 8}}; !slices.Equal(got, want) {
		t.Errorf("races %+v, want %+v", got, want)
	}
}

// What a list lacked when it was read is new, whatever was written to it afterwards: that it
// did not say something yet is another mistake.
func TestListedBeforeItWasMade(t *testing.T) {
	for _, tt := range []struct{ first, second, want string }{
		{"POST", "PATCH", "read LIST pods, changed pods new"}, {"PATCH", "PATCH", "read LIST pods, changed pods"},
		{"PATCH", "DELETE", "read LIST pods, changed pods removed"},
	} {
		p := newPlay(t)
		p.step(sim.Write, "kubelet/n", "POST", "pods/web-0") // of its namesake
		list := p.step(sim.Read, "ip-reconciler", "LIST", "pods")
		p.step(sim.Write, "kubelet/n", "POST", "pods/other")
		p.step(sim.Write, "kubelet/n", tt.first, "pods/web-0")
		change := p.step(sim.Write, "kubelet/n", tt.second, "pods/web-0")
		p.claims(claim(web, "c1"))
		p.step(sim.Write, "ip-reconciler", "PATCH", "ippools/a")
		p.claims()
		c := cause.Of(&p.rep, p.breaks("unbacked-sandbox", model.AddressOf(addr), model.PodOf(web)))
		c.Decided(&p.rep, cause.Race{Read: list, Change: change})
		if c.Rest() != tt.want {
			t.Errorf("%s, %s: %s, want %s", tt.first, tt.second, c.Rest(), tt.want)
		}
	}
}

// A race has been tried only in a run in which both messages came, the read second: one
// without the change, or without the read, shows nothing.
func TestSwapped(t *testing.T) {
	read := sim.Op{Actor: "ip-reconciler", Seq: 3}
	change, other := sim.Op{Actor: "kubelet/n", Seq: 1}, sim.Op{Actor: "kubelet/n", Seq: 2}
	race := cause.Race{Read: &sim.Step{Decision: sim.Decision{Choice: sim.Choice{Op: read}}}, Change: &sim.Step{Decision: sim.Decision{Choice: sim.Choice{Op: change}}}}
	for _, tt := range []struct {
		name string
		ops  []sim.Op
		want bool
	}{
		{"as it was", []sim.Op{read, change}, false}, {"swapped", []sim.Op{other, change, other, read}, true},
		{"no change", []sim.Op{other, read}, false}, {"no read", []sim.Op{change}, false}, {"nothing", nil, false},
	} {
		again := &reports.Report{Trace: &sim.Trace{}}
		for _, op := range tt.ops {
			again.Trace.Steps = append(again.Trace.Steps, &sim.Step{Decision: sim.Decision{Choice: sim.Choice{Op: op}}})
		}
		if got := race.Swapped(again); got != tt.want {
			t.Errorf("%s: %t", tt.name, got)
		}
	}
}

// The trigger is the most severe class of what happened.
func TestTrigger(t *testing.T) {
	for class, want := range map[model.Class]cause.Trigger{
		model.Ordinary: cause.NoFault, model.InjectedFault: cause.Faulted, model.Crash: cause.Killed,
		model.ForcedDeletion: cause.ForcedDeletion, model.OperatorAction: cause.OperatorAction,
	} {
		p := newPlay(t)
		p.event(model.Event{Kind: model.Operator, Action: model.ActionRef{Kind: "scale"}})
		p.event(model.Event{Kind: model.FaultEvent, Action: model.ActionRef{Class: class}})
		p.event(model.Event{Kind: model.Operator, Action: model.ActionRef{Kind: "scale"}})
		p.event(model.Event{Kind: model.AddEnd, Pod: web})
		if got := cause.Of(&p.rep, p.breaks("stuck")).Trigger; got != want {
			t.Errorf("%q: %s, want %s", class, got, want)
		}
	}
}

// Whose the row was tells a call that frees another pod's address from one that frees its
// own, and a reconciler that frees that of a deleted pod from one that frees a live one's.
func TestWhose(t *testing.T) {
	const del, reconciler, now = "cni-del/default/db-0/net1", "ip-reconciler~2", `{"gracePeriodSeconds":0}`
	evicted := func(reason string) string {
		return `{"status":{"conditions":[{"type":"DisruptionTarget","status":"True","reason":"` + reason + `"}]}}`
	}
	for _, tt := range []struct {
		name, by, pod, want string
		deleted             []string // what was done to web-0, in order: verb, what was asked or answered
	}{
		{"another pod's", del, "db-0", "cni-del PATCH ippools removed another pod's", nil},
		{"its own", del, "web-0", "cni-del PATCH ippools removed", nil},
		{"a live pod's", reconciler, "", "ip-reconciler PATCH ippools removed", nil},
		{"a terminating pod's", reconciler, "", "ip-reconciler PATCH ippools removed of a terminating pod", []string{"DELETE"}},
		{"a pod's that has ended", reconciler, "", "ip-reconciler PATCH ippools removed of a deleted pod", []string{"DELETE", "DELETE " + now}},
		{"an evicted pod's", reconciler, "", "ip-reconciler PATCH ippools removed of a deleted pod", []string{"DELETE " + evicted("DeletionByTaintManager")}},
		{"a drained node's", reconciler, "", "ip-reconciler PATCH ippools removed of a terminating pod", []string{"DELETE " + evicted("EvictionByEvictionAPI")}},
		{"of a pod that is there again", reconciler, "", "ip-reconciler PATCH ippools removed", []string{"DELETE", "POST"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := newPlay(t)
			p.step(sim.Write, "cni-add/default/web-0/net1", "PATCH", "ippools/a")
			p.claims(claim(web, "c1"))
			for _, deletion := range tt.deleted {
				verb, body, _ := strings.Cut(deletion, " ")
				st := p.step(sim.Write, "somebody", verb, "pods/default/web-0")
				st.Choice.Op.Request.Namespace, st.Choice.Op.Request.Name = "default", "web-0"
				x := exchange.Exchange{Verb: strings.ToLower(verb), Resource: "pods", Namespace: "default", Name: "web-0", Status: 200}
				if x.Response = []byte(body); body == now {
					x.Request, x.Response = []byte(body), nil
				}
				st.Detail = x
			}
			if tt.pod != "" {
				p.event(model.Event{Kind: model.DelBegin, Actor: tt.by, Pod: model.PodRef{Namespace: "default", Name: tt.pod}})
			}
			p.step(sim.Write, tt.by, "PATCH", "ippools/a")
			p.claims()
			p.want(p.breaks("unbacked-sandbox", model.AddressOf(addr), model.PodOf(web)), "unbacked-sandbox, wrote "+tt.want)
		})
	}
}
