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

// play builds a run by hand.
type play struct {
	*testing.T
	rep reports.Report
	rec model.Snapshot
}

func newPlay(t *testing.T) *play {
	p := &play{T: t, rep: reports.Report{Trace: &sim.Trace{}, History: &model.History{}, Ledger: &model.Ledger{}}}
	p.rep.Ledger.Note(0, model.Snapshot{}) // the record is empty before the first step
	return p
}

// step adds a message: actor, verb and path.
func (p *play) step(kind sim.OpKind, actor, verb, path string) *sim.Step {
	resource, name, _ := strings.Cut(path, "/")
	n := len(p.rep.Trace.Steps) + 1
	st := &sim.Step{Decision: sim.Decision{Step: n, At: time.Duration(n), Choice: sim.Choice{Op: sim.Op{
		Actor: sim.ActorID(actor), Seq: n, Kind: kind, Request: &sim.Request{Verb: verb, Resource: resource, Name: name, Path: path},
	}}}}
	p.rep.Trace.Steps = append(p.rep.Trace.Steps, st)
	return st
}

// claims sets the claims of the record after the last step.
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

// The reconciler removes the claim of a running pod, and the address is assigned to another
// pod: both violations have the reconciler's write as their cause.
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

// If an ADD returns an address that it never claimed, the ADD is the cause, whichever process
// changed the claim last.
func TestReturnedWithoutClaim(t *testing.T) {
	p := newPlay(t)
	p.step(sim.Write, "cni-add/default/db-0/net1", "PATCH", "ippools/a")
	p.claims(claim(db, "c1"))
	p.step(sim.Write, "cni-del/default/db-0/net1", "PATCH", "ippools/a")
	p.claims()
	p.step(sim.Read, "cni-add/default/web-0/net1", "GET", "ippools/a")
	p.event(model.Event{Kind: model.AddEnd, Actor: "cni-add/default/web-0/net1", Pod: web, Addrs: []netip.Addr{addr}})
	p.want(p.breaks("unbacked-sandbox", model.AddressOf(addr), model.PodOf(web)), "unbacked-sandbox, handed cni-add GET ippools")
}

// What an operator's own write breaks is one cause, whichever invariant detects it.
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

// A write by which an operator bypassed the manager is the cause of what the manager does next.
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

// A node whose slice is stored in the Node may be deleted: managers have to handle that, so the
// deletion is no operator's write to the record.
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

// The name of a finding leaves out what depends on the schedule. Another function, or another
// owner of the address, is another name.
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
	ignored := func(resource string) []cause.Link {
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
		{"an empty block is deleted", of("unbacked-sandbox", "x", gone),
			of("unbacked-sandbox", "x", wrote("ipam-controller", "ipamblocks", "removed", "ipam.blockReaderWriter.deleteBlock", release)), true},
		{"an ADD rolls back", of("unbacked-sandbox", "x", gone),
			of("unbacked-sandbox", "x", wrote("cni-add", "ipamblocks", "removed", "ipam.blockReaderWriter.updateBlock", release)), false},
		{"of a deleted pod", of("unbacked-sandbox", "x", gone), func() cause.Cause {
			l := gone
			l.Whose = cause.Deleted
			return of("unbacked-sandbox", "x", l)
		}(), false},
		{"of a deleted or terminating pod", func() cause.Cause {
			l := gone
			l.Whose = cause.Terminating
			return of("unbacked-sandbox", "x", l)
		}(), func() cause.Cause {
			l := gone
			l.Whose = cause.Deleted
			return of("unbacked-sandbox", "x", l)
		}(), true},
		{"two invariants detect an overwritten row", of("unbacked-sandbox", "x", wrote("cni-add", "ippools", "changed")),
			of("overlap-reservation", "y", wrote("cni-add", "ippools", "changed")), true},
		{"two invariants, a new row", of("unbacked-sandbox", "x", wrote("cni-add", "ippools", "new")),
			of("overlap-reservation", "y", wrote("cni-add", "ippools", "new")), false},
		{"a handle, seen at rest", of("handle-count", "counted-too-many", counted), of("leftover-handle", "nothing-claimed", counted), true},
		{"a handle, by calico-node, after a fault", of("handle-count", "counted-too-many", counted),
			of("handle-count", "counted-too-many", wrote("tunnel-addresses", "ipamblocks", "counted", "ipam.blockReaderWriter.updateBlock", assign), fault), true},
		{"a handle, too few", of("handle-count", "counted-too-many", counted), of("handle-count", "counted-zero", counted), false},
		{"a handle, by another function", counting("counted", assign), counting("counted", "ipam.ipamClient.AssignIP"), true},
		{"a handle, counted again", counting("counted", assign), counting("counted again", assign), false},
		{"a reservation, by a daemon", reservation("cni-del", ""), reservation("pod-control-loop", ""), true},
		{"a reservation, another pod's", reservation("cni-del", "another pod's"), reservation("pod-control-loop", ""), false},
		{"an ADD removes any pod's claim", undone(""), undone(cause.Another), true},
		{"another request of a tool", tool("ipamblocks", "ReleasePoolAffinities"), tool("blockaffinities", "ReleasePoolAffinities"), true},
		{"another function of a tool", tool("ipamblocks", "ReleasePoolAffinities"), tool("ipamblocks", "ReleaseIPs"), false},
		{"a limit that was never read", manner("in-one-pool", "unlisted"), manner("of-several-pools", "unlisted"), true},
		{"a limit that was read", manner("in-one-pool", ""), manner("of-several-pools", ""), false},
		{"another literal of a function", crashed("node.New.func1"), crashed("node.New.func2.1"), true},
		{"another function", crashed("node.New.func1"), crashed("node.Old.func1"), false},
		{"a DEL to which an object was absent", of("unreleased-claim", "y", absent), of("leaked-claim", "x", ignored("ippools")...), true},
		{"read from a stale replica", of("unbacked-sandbox", "x", gone), of("unbacked-sandbox", "x", gone, staleRead), true},
		{"no DEL succeeded", of("leaked-claim", "x", ended("DEL failed")), of("leaked-claim", "x", ended("no DEL")), true},
		{"a pass did not remove it", of("leaked-claim", "x", ended("no DEL")), of("leaked-claim", "x", ended("no DEL"), passed), false},
		{"a DEL succeeded, and passes followed", of("unreleased-claim", "y", ended("DEL ended")), of("leaked-claim", "x", ended("DEL ended"), passed), true},
		{"a DEL that ignored an error", of("leaked-claim", "x", ignored("ippools")...), of("unreleased-claim", "y", ignored("nodeslicepools")...), true},
		{"a DEL that ignored an error, and one without an error", of("leaked-claim", "x", ignored("ippools")...), of("leaked-claim", "x", ignored("ippools")[0]), false},
		{"a DEL succeeded", of("leaked-claim", "x", ended("no DEL")), of("leaked-claim", "x", ended("DEL ended")), false},
		{"a write failed, and a second one", of("unbacked-sandbox", "x", failed), of("unbacked-sandbox", "x", failed, fault), true},
		{"another write failed", of("unbacked-sandbox", "x", gone), of("unbacked-sandbox", "x", gone, fault), true},
		{"what an ADD asked last", of("unbacked-sandbox", "x", cause.Link{Role: cause.Handed, Process: "cni-add", Resource: "ippools", Functions: []string{"a", "entry"}}),
			of("unbacked-sandbox", "x", cause.Link{Role: cause.Handed, Process: "cni-add", Resource: "leases", Functions: []string{"b", "entry"}}), true},
		{"an error may be taken for an answer", of("unbacked-sandbox", "x", gone), of("unbacked-sandbox", "x", gone, unread), false},
		{"an error taken for a full pool", of("spurious-exhaustion", "x", cause.Link{Role: cause.Refused, Process: "cni-add", Functions: []string{assign}}, fault),
			of("spurious-exhaustion", "x", cause.Link{Role: cause.Refused, Process: "cni-add", Functions: []string{release}}, unread), true},
		{"a fault that no link shows", of("spurious-exhaustion", "x", cause.Link{Role: cause.Refused}), of("spurious-exhaustion", "x", cause.Link{Role: cause.Refused}, fault), false},
		{"a race that was tried", of("unbacked-sandbox", "x", gone),
			of("unbacked-sandbox", "x", gone, cause.Link{Role: cause.Read, Resource: "nodes"}, cause.Link{Role: cause.Changed, Resource: "nodes"}), true},
	} {
		if got := tt.a.Name() == tt.b.Name(); got != tt.same {
			t.Errorf("%s: %q and %q", tt.name, tt.a.Name(), tt.b.Name())
		}
	}
}

// A handle that counts too many addresses of a running sandbox is explained by the write that
// counted them, not by a missing DEL.
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

// A handle that was counted up once too often is explained by that write, whichever process
// counts it down later.
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

// The ways to hand out an excluded address differ: the manager searches a network's range, or
// a node's slice of it.
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
	// If the claim itself failed, so that only the reservation was written, the way is the same.
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

// What remains is explained by how the last call for its sandbox ended, and by later passes.
func TestWhatStays(t *testing.T) {
	const del = "cni-del/default/web-0/net1"
	for _, tt := range []struct {
		name, want string
		then       func(p *play)
	}{
		{"no DEL", "leaked-claim, ended no DEL", func(*play) {}},
		{"it succeeded", "leaked-claim, ended cni-del GET ippools DEL ended", func(p *play) {
			p.step(sim.Read, del, "GET", "ippools/a")
			p.event(model.Event{Kind: model.DelEnd, Actor: del, Container: "c1"})
		}},
		{"it failed, and a pass did not fix it", "leaked-claim, ended cni-del DEL failed, passed ip-reconciler ended", func(p *play) {
			p.step(sim.Read, del, "GET", "ippools/a")
			p.event(model.Event{Kind: model.DelEnd, Actor: del, Container: "c1", Err: "no"})
			p.step(sim.Read, "ip-reconciler~1", "LIST", "ippools")
			p.step(sim.Read, "ip-reconciler~1", "LIST", "pods")
			p.event(model.Event{Kind: model.Reconciled, Actor: "ip-reconciler~1"})
			p.step(sim.Read, "ipam-gc~1", "LIST", "ipamblocks") // of another manager
			p.event(model.Event{Kind: model.Reconciled, Actor: "ipam-gc~1"})
		}},
		{"the claim was created again", "leaked-claim, wrote cni-add PATCH ippools new", func(p *play) {
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

// A fault is part of the cause if the process that broke the invariant received the error and
// went on. A fault of another process of its kind, or of a write of the same objects, is marked
// Aside. A fault that only delayed a process is left out.
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

// An ADD that goes on after its claim was refused returns an address without a claim: the
// failed write is part of the cause, unless the ADD repeated it with success.
func TestIgnoredFailure(t *testing.T) {
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

// An address that two pods have was released before, or is still claimed in another pool.
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

// Stale returns the reads of a process whose object another process changed before the write,
// as far as the change is about the violation's objects.
func TestStale(t *testing.T) {
	p := newPlay(t)
	p.step(sim.Read, "ip-reconciler", "GET", "ippools/a")
	p.step(sim.Write, "cni-add/default/db-0/net1", "PATCH", "ippools/a")
	p.step(sim.Read, "ip-reconciler", "GET", "ippools/a") // after the change
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
	signature := c.Signature()
	c.Decided(&p.rep, races[0])
	c.Decided(&p.rep, races[0]) // a second race of the same kind adds nothing
	if want := "read LIST pods, changed pods"; c.Rest() != want || c.Signature() != signature {
		t.Errorf("%s: %s, want %s", c.Signature(), c.Rest(), want)
	}
	if got, want := c.Races(v), []model.Race{{Invariant: "unbacked-sandbox", Read: 4, Change: 6, Use: 8}}; !slices.Equal(got, want) {
		t.Errorf("races %+v, want %+v", got, want)
	}
}

// An object that was created after the list was read has the outcome "new", whatever was written
// to it afterwards. An object that changed after the list was read is another mistake.
func TestListedBeforeItWasMade(t *testing.T) {
	for _, tt := range []struct{ first, second, want string }{
		{"POST", "PATCH", "read LIST pods, changed pods new"}, {"PATCH", "PATCH", "read LIST pods, changed pods"},
		{"PATCH", "DELETE", "read LIST pods, changed pods removed"},
	} {
		p := newPlay(t)
		p.step(sim.Write, "kubelet/n", "POST", "pods/web-0") // an earlier pod with the same name
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

// A race has been tried only in a run that contains both messages, the read second.
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

// The trigger is the most severe class of the events.
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

// The owner of the row distinguishes a call that frees another pod's address from one that
// frees its own, and a reconciler that frees a deleted pod's address from one that frees a
// running pod's.
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
		{"a running pod's", reconciler, "", "ip-reconciler PATCH ippools removed", nil},
		{"a terminating pod's", reconciler, "", "ip-reconciler PATCH ippools removed of a terminating pod", []string{"DELETE"}},
		{"a pod's that has ended", reconciler, "", "ip-reconciler PATCH ippools removed of a deleted pod", []string{"DELETE", "DELETE " + now}},
		{"an evicted pod's", reconciler, "", "ip-reconciler PATCH ippools removed of a deleted pod", []string{"DELETE " + evicted("DeletionByTaintManager")}},
		{"a drained node's", reconciler, "", "ip-reconciler PATCH ippools removed of a terminating pod", []string{"DELETE " + evicted("EvictionByEvictionAPI")}},
		{"of a pod that was recreated", reconciler, "", "ip-reconciler PATCH ippools removed", []string{"DELETE", "POST"}},
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
