package cause_test

import (
	"net/netip"
	"strings"
	"testing"

	"ipamsim/fuzz/cause"
	"ipamsim/model"
	"ipamsim/model/invariant"
	"ipamsim/sim"
)

// A reconciler that removes a claim before the ADD has returned the address is the cause. That
// the address is then assigned to another pod is no part of it.
func TestTakenBeforeItIsReturned(t *testing.T) {
	p := newPlay(t)
	p.step(sim.Write, "cni-add/default/web-0/net1", "PATCH", "ippools/a")
	p.claims(claim(web, "c1"))
	p.step(sim.Write, "ip-reconciler", "PATCH", "ippools/a")
	p.claims()
	p.step(sim.Write, "cni-add/default/db-0/net1", "PATCH", "ippools/a")
	p.claims(claim(db, "c2"))
	p.want(p.breaks("duplicate-address", model.AddressOf(addr), model.PodOf(web), model.PodOf(db)),
		"duplicate-address, wrote ip-reconciler PATCH ippools removed")
}

// A claim that was released in another pool does not explain a claim in this pool.
func TestFreedInTheSamePool(t *testing.T) {
	p := newPlay(t)
	other := claim(db, "c9")
	other.Pool = "10.0.0.0-28"
	p.step(sim.Write, "cni-add/default/web-0/net1", "PATCH", "ippools/a")
	p.claims(claim(web, "c1"), other)
	p.step(sim.Write, "cni-del/default/web-0/net1", "PATCH", "ippools/a")
	p.claims(other)
	p.step(sim.Write, "cni-del/default/db-0/net2", "PATCH", "ippools/b")
	p.claims()
	p.step(sim.Write, "cni-add/default/db-0/net2", "PATCH", "ippools/b")
	p.claims(other)
	p.step(sim.Write, "cni-add/default/db-0/net1", "PATCH", "ippools/a")
	p.claims(claim(db, "c2"), other)
	v := p.breaks("duplicate-address", model.AddressOf(addr), model.PodOf(web), model.PodOf(db))
	p.want(v, "duplicate-address, wrote cni-add PATCH ippools new, freed cni-del PATCH ippools")
	if c := cause.Of(&p.rep, v); c.Links[1].Step != 2 {
		t.Errorf("freed at step %d", c.Links[1].Step)
	}
}

// An ADD returns an address without a claim. The claim of an earlier pod with the same name,
// removed before the ADD began, does not explain it.
func TestGoneBeforeItBegan(t *testing.T) {
	p := newPlay(t)
	p.step(sim.Write, "cni-add/default/web-0/net1", "PATCH", "ippools/a")
	p.claims(claim(web, "c1"))
	p.step(sim.Write, "cni-del/default/web-0/net1", "PATCH", "ippools/a")
	p.claims()
	p.event(model.Event{Kind: model.AddBegin, Actor: "cni-add/default/web-0/net1~2", Pod: web, Container: "c2"})
	p.step(sim.Read, "cni-add/default/web-0/net1~2", "GET", "ippools/a")
	p.event(model.Event{Kind: model.AddEnd, Actor: "cni-add/default/web-0/net1~2", Pod: web, Container: "c2", Addrs: []netip.Addr{addr}})
	p.want(p.breaks("unbacked-sandbox", model.AddressOf(addr), model.PodOf(web)), "unbacked-sandbox, handed cni-add GET ippools")
}

// A claim in a second pool is explained by the write that dropped the reservation.
func TestReservationDropped(t *testing.T) {
	p := newPlay(t)
	first, second := claim(web, "c1"), claim(db, "c2")
	second.Pool = "10.0.0.0-28"
	reserved := model.Reservation{Name: "10.0.0.1", Addr: addr, Pod: web}
	note := func(s model.Snapshot) { p.rep.Ledger.Note(len(p.rep.Trace.Steps), s) }
	p.step(sim.Write, "cni-add/default/web-0/net1", "PATCH", "ippools/a")
	note(model.Snapshot{Claims: []model.Claim{first}, Reservations: []model.Reservation{reserved}})
	p.step(sim.Write, "ip-reconciler", "DELETE", "overlappingrangeipreservations/a")
	note(model.Snapshot{Claims: []model.Claim{first}})
	p.step(sim.Write, "cni-add/default/db-0/net2", "PATCH", "ippools/b")
	note(model.Snapshot{Claims: []model.Claim{first, second}})
	p.want(p.breaks("double-claim", model.AddressOf(addr), model.PodOf(web), model.PodOf(db)),
		"double-claim, wrote ip-reconciler DELETE overlappingrangeipreservations removed")

	// Or the process of the first claim never reserved the address.
	p = newPlay(t)
	p.step(sim.Write, "cni-add/default/web-0/net1", "PATCH", "ippools/a")
	note(model.Snapshot{Claims: []model.Claim{first}})
	p.step(sim.Write, "cni-add/default/db-0/net2", "PATCH", "ippools/b")
	note(model.Snapshot{Claims: []model.Claim{first, second}})
	v := p.breaks("double-claim", model.AddressOf(addr), model.PodOf(web), model.PodOf(db))
	p.want(v, "double-claim, wrote cni-add PATCH ippools not reserved")
	if c := cause.Of(&p.rep, v); c.Links[0].Step != 1 {
		t.Errorf("by step %d", c.Links[0].Step)
	}
}

// A pod that was deleted and created again counts as deleted for the claim of its old container.
func TestWhoseContainer(t *testing.T) {
	p := newPlay(t)
	p.event(model.Event{Kind: model.AddBegin, Actor: "cni-add/default/web-0/net1", Pod: web, Container: "c1"})
	p.step(sim.Write, "cni-add/default/web-0/net1", "PATCH", "ippools/a")
	p.claims(claim(web, "c1"))
	p.pod("operator", "DELETE")
	p.pod("statefulset", "POST")
	p.step(sim.Write, "pod-control-loop", "PATCH", "ippools/a")
	p.claims()
	p.want(p.breaks("unbacked-sandbox", model.AddressOf(addr), model.PodOf(web)),
		"unbacked-sandbox, wrote pod-control-loop PATCH ippools removed of a deleted pod")
}

// The cause of a call that fails because its process panics is the panic.
func TestRefusedByAPanic(t *testing.T) {
	p := newPlay(t)
	p.step(sim.Read, "cni-del/default/web-0/net1", "GET", "nodeslicepools/a")
	p.event(model.Event{Kind: model.ActorPanic, Actor: "cni-del/default/web-0/net1", Text: "panic"})
	p.event(model.Event{Kind: model.DelEnd, Actor: "cni-del/default/web-0/net1", Pod: web, Err: "panic"})
	v := p.breaks("convergence", model.PodOf(web))
	if got := cause.Of(&p.rep, v).Name(); !strings.HasPrefix(got, "actor-crash, crashed") {
		t.Error(got)
	}
}

// The last message of a call leaves out leader election.
func TestLastOfTheWork(t *testing.T) {
	p := newPlay(t)
	p.step(sim.Read, "cni-add/default/web-0/net1", "GET", "ippools/a")
	p.step(sim.Read, "cni-add/default/web-0/net1", "GET", "leases/a")
	p.event(model.Event{Kind: model.AddEnd, Actor: "cni-add/default/web-0/net1", Pod: web, Addrs: []netip.Addr{addr}})
	p.want(p.breaks("unbacked-sandbox", model.AddressOf(addr), model.PodOf(web)), "unbacked-sandbox, handed cni-add GET ippools")
}

// Routes to an address whose claim was removed are broken by that removal. Changes of other
// addresses in the block do not matter.
func TestBlackholedByItsOwnLoss(t *testing.T) {
	for _, lost := range []netip.Addr{addr, netip.MustParseAddr("10.0.0.2")} {
		p := newPlay(t)
		neighbour := claim(db, "c2")
		neighbour.Addr = netip.MustParseAddr("10.0.0.2")
		p.step(sim.Write, "cni-add/default/web-0/eth0", "PUT", "ipamblocks/a")
		p.claims(claim(web, "c1"), neighbour)
		p.step(sim.Write, "ipam-controller", "PUT", "ipamblocks/a")
		if lost == addr {
			p.claims(neighbour)
		} else {
			p.claims(claim(web, "c1"))
		}
		p.breaks("unbacked-sandbox", model.AddressOf(lost))
		v := p.breaks("blackholed-address", model.AddressOf(addr), model.PodOf(web))
		v.Step++
		want := "unbacked-sandbox"
		if lost != addr {
			want = "blackholed-address"
		}
		if got := cause.Of(&p.rep, v); got.Invariant != want {
			t.Errorf("%s lost: %s", lost, got.Invariant)
		}
	}
}

// pod is a write of the pod web by any actor.
func (p *play) pod(actor, verb string) {
	r := p.step(sim.Write, actor, verb, "pods/default/web-0").Choice.Op.Request
	r.Namespace, r.Name = web.Namespace, web.Name
}

// If another process takes over the claim of an ADD that is still running, that write is the
// cause. What happens to the claim until the ADD returns does not matter.
func TestTakenOverOnTheWay(t *testing.T) {
	const add, namesakes = "cni-add/default/web-0/net1", "cni-add/default/web-0/net1~2"
	p := newPlay(t)
	p.event(model.Event{Kind: model.AddBegin, Actor: add, Pod: web, Container: "c1"})
	p.step(sim.Write, add, "PATCH", "ippools/a")
	p.claims(claim(web, "c1"))
	p.step(sim.Write, namesakes, "PATCH", "ippools/a")
	p.claims(claim(web, "c2"))
	p.step(sim.Write, "cni-del/default/web-0/net1", "PATCH", "ippools/a")
	p.claims()
	p.event(model.Event{Kind: model.AddEnd, Actor: add, Pod: web, Container: "c1", Addrs: []netip.Addr{addr}})
	p.want(p.breaks("unbacked-sandbox", model.AddressOf(addr), model.PodOf(web)), "unbacked-sandbox, wrote cni-add PATCH ippools changed")
}

// A sandbox is assigned the same address twice. That another pod had the address before does
// not matter.
func TestFreedByAnotherPod(t *testing.T) {
	p := newPlay(t)
	p.step(sim.Write, "cni-add/default/db-0/net1", "PATCH", "ippools/a")
	p.claims(claim(db, "c9"))
	p.step(sim.Write, "cni-del/default/db-0/net1", "PATCH", "ippools/a")
	p.claims()
	for i, of := range []string{"b", "a"} {
		p.step(sim.Write, "cni-add/default/web-0/net1", "PATCH", "ippools/"+of)
		twice := []model.Claim{claim(web, "c1"), claim(web, "c1")}
		twice[0].Pool = "another"
		p.claims(twice[:i+1]...)
		p.event(model.Event{Kind: model.AddEnd, Pod: web, Container: "c1", Addrs: []netip.Addr{addr}})
	}
	p.want(p.breaks("duplicate-address", model.AddressOf(addr), model.PodOf(web)), "duplicate-address, wrote cni-add PATCH ippools new")
}

// The cause names the process that released an address which a stopped sandbox still has, even
// if other pods had the address in between; in another pool only if addresses are reserved
// across pools.
func TestFreedLongBefore(t *testing.T) {
	const del = "cni-del/default/web-0/net1"
	for pool, want := range map[string]string{"10.0.0.0-24": ", freed cni-del PATCH ippools", "another": ", freed cni-del PATCH ippools", "unguarded": ""} {
		p := newPlay(t)
		note := func(claims ...model.Claim) {
			s := model.Snapshot{Claims: claims}
			if len(claims) > 0 && pool != "unguarded" {
				s.Reservations = []model.Reservation{{Name: "10.0.0.1", Addr: addr, Pod: claims[0].Pod}}
			}
			p.rep.Ledger.Note(len(p.rep.Trace.Steps), s)
		}
		now := claim(db, "c2")
		now.Pool = pool
		p.step(sim.Write, "cni-add/default/web-0/net1", "PATCH", "ippools/a")
		note(claim(web, "c1"))
		p.event(model.Event{Kind: model.AddEnd, Pod: web, Container: "c1", Addrs: []netip.Addr{addr}})
		p.step(sim.Write, del, "PATCH", "ippools/a")
		note()
		p.step(sim.Write, "cni-add/default/other/net1", "PATCH", "ippools/a")
		note(claim(model.PodRef{Namespace: "default", Name: "other"}, "c7"))
		p.step(sim.Write, "cni-del/default/other/net1", "PATCH", "ippools/a")
		note()
		p.step(sim.Write, "cni-add/default/db-0/net1", "PATCH", "ippools/b")
		note(now)
		p.event(model.Event{Kind: model.AddEnd, Pod: db, Container: "c2", Addrs: []netip.Addr{addr}})
		p.want(p.breaks("duplicate-address", model.AddressOf(addr), model.PodOf(web), model.PodOf(db)), "duplicate-address, wrote cni-add PATCH ippools new"+want)
	}
}

// A DEL that succeeds in spite of an error differs from one that met no error: its last request
// failed, also one for leader election, or an error kept it from reading any pool.
func TestIgnoredError(t *testing.T) {
	const del = "cni-del/default/web-0/net1"
	names := map[string]string{}
	for how, then := range map[string]func(p *play){
		"none": func(p *play) { p.step(sim.Read, del, "GET", "ippools/a") },
		"election": func(p *play) {
			p.step(sim.Read, del, "GET", "ippools/a")
			p.step(sim.Write, del, "PUT", "leases/a").Choice.Outcome = sim.FailBefore
		},
		"no look": func(p *play) { p.step(sim.Read, del, "LIST", "ippools") },
	} {
		p := newPlay(t)
		p.step(sim.Write, "cni-add/default/web-0/net1", "PATCH", "ippools/a")
		p.claims(claim(web, "c1"))
		then(p)
		p.event(model.Event{Kind: model.DelEnd, Actor: del, Container: "c1"})
		c := cause.Of(&p.rep, p.breaks("leaked-claim", model.AddressOf(addr), model.Ref{Kind: model.RefContainer, Name: "c1"}))
		names[how] = c.Name()
	}
	if names["none"] == names["election"] || names["election"] != names["no look"] {
		t.Errorf("%q", names)
	}
}

// A duplicate address in a range that two nodes have is explained by the write that assigned
// the range to the second node.
func TestDuplicateOfAConflict(t *testing.T) {
	shared := netip.MustParsePrefix("10.0.0.0/28")
	p := newPlay(t)
	p.step(sim.Write, "kube-controller-manager", "PATCH", "nodes/b")
	pools := []model.Pool{{Name: "a/10.0.0.0/28", Range: shared, Node: "a"}, {Name: "b/10.0.0.0/28", Range: shared, Node: "b"}}
	p.rep.Ledger.Note(len(p.rep.Trace.Steps), model.Snapshot{Pools: pools})
	conflict := p.breaks("slice-conflict", model.Ref{Kind: model.RefPool, Name: pools[0].Name}, model.Ref{Kind: model.RefPool, Name: pools[1].Name})
	conflict.Facts = []model.Fact{model.NewFact("second-slice", model.Ref{Kind: model.RefRange, Name: shared.String()})}
	want := cause.Of(&p.rep, conflict).Key()
	p.step(sim.Write, "cni-add/default/db-0/net1", "PATCH", "files/a")
	c := claim(db, "c2")
	c.Pool = pools[1].Name
	p.rep.Ledger.Note(len(p.rep.Trace.Steps), model.Snapshot{Pools: pools, Claims: []model.Claim{c}})
	p.want(p.breaks("duplicate-address", model.AddressOf(addr), model.PodOf(web), model.PodOf(db)), want)
}

// A pod has an interface of each of two managers. What remains of one interface is not explained
// by the DEL of the other, which succeeded later.
func TestDelOfTheInterface(t *testing.T) {
	p := newPlay(t)
	p.step(sim.Write, "cni-add/default/web-0/net1", "PATCH", "ippools/a")
	p.claims(claim(web, "c1"))
	p.event(model.Event{Kind: model.AddEnd, Pod: web, Container: "c1", Interface: "net1", Actor: "cni-add/default/web-0/net1"})
	p.event(model.Event{Kind: model.AddEnd, Pod: web, Container: "c1", Interface: "eth0", Actor: "cni-add/default/web-0/eth0"})
	p.step(sim.Write, "cni-del/default/web-0/net1", "DELETE", "overlappingrangeipreservations/a")
	p.event(model.Event{Kind: model.DelEnd, Pod: web, Container: "c1", Interface: "net1", Actor: "cni-del/default/web-0/net1"})
	p.step(sim.Write, "cni-del/default/web-0/eth0", "Delete", "ipamhandles/a")
	p.event(model.Event{Kind: model.DelEnd, Pod: web, Container: "c1", Interface: "eth0", Actor: "cni-del/default/web-0/eth0"})
	v := p.breaks("leaked-claim", model.AddressOf(addr), model.Ref{Kind: model.RefPool, Name: "10.0.0.0-24"}, model.PodOf(web), model.Ref{Kind: model.RefContainer, Name: "c1"})
	if got := cause.Of(&p.rep, v).Signature(); !strings.Contains(got, "overlappingrangeipreservations") || strings.Contains(got, "ipamhandles") {
		t.Error(got)
	}
}

// A sandbox remains because the DEL of one interface panics, although the DELs of its other
// interfaces succeed and the next attempt has begun.
func TestDelThatFails(t *testing.T) {
	p := newPlay(t)
	p.step(sim.Write, "cni-del/default/web-0/net1", "PUT", "leases/a")
	p.event(model.Event{Kind: model.DelBegin, Pod: web, Container: "c1", Interface: "net1", Actor: "cni-del/default/web-0/net1"})
	p.event(model.Event{Kind: model.ActorPanic, Actor: "cni-del/default/web-0/net1", Text: "nil pointer"})
	p.step(sim.Write, "cni-del/default/web-0/eth0", "Delete", "ipamhandles/a")
	p.event(model.Event{Kind: model.DelEnd, Pod: web, Container: "c1", Interface: "eth0", Actor: "cni-del/default/web-0/eth0"})
	p.event(model.Event{Kind: model.DelBegin, Pod: web, Container: "c1", Interface: "net1", Actor: "cni-del/default/web-0/net1~2"})
	v := p.breaks("convergence", model.PodOf(web), model.Ref{Kind: model.RefContainer, Name: "c1"})
	v.Code = invariant.DeleteFails
	if got := cause.Of(&p.rep, v).Signature(); !strings.Contains(got, "crashed") {
		t.Error(got)
	}
}
