package cause_test

import (
	"testing"
	"time"

	"ipamsim/fuzz/cause"
	"ipamsim/model"
	"ipamsim/sim"
)

// Two nodes may use the same addresses: their claims are distinguished by pool.
func TestAddressOfTwoNodes(t *testing.T) {
	p := newPlay(t)
	on := func(node, container string) model.Claim {
		c := claim(web, container)
		c.Pool = node
		return c
	}
	p.step(sim.Write, "cni-add/default/web-0/net1", "WRITE", "files/a")
	p.claims(on("n1", "c1"))
	p.step(sim.Read, "cni-del/default/web-0/net1", "STAT", "files/a")
	p.event(model.Event{Kind: model.DelEnd, Actor: "cni-del/default/web-0/net1", Container: "c1"})
	p.step(sim.Write, "cni-add/default/web-0/net1~2", "WRITE", "files/b")
	p.claims(on("n1", "c1"), on("n2", "c2"))
	p.step(sim.Write, "cni-del/default/web-0/net1~2", "REMOVE", "files/b")
	p.claims(on("n1", "c1"))
	v := p.breaks("convergence", model.AddressOf(addr), model.Ref{Kind: model.RefPool, Name: "n1"}, model.Ref{Kind: model.RefContainer, Name: "c1"})
	p.want(v, "convergence, ended cni-del STAT files DEL ended")
}

// A node that loses power is no operator's write: it only loses data that was not on disk yet.
func TestLostPowerIsNoOperatorWrite(t *testing.T) {
	p := newPlay(t)
	p.step(sim.Write, "cni-add/default/web-0/net1", "WRITE", "files/a")
	p.claims(claim(web, "c1"))
	p.step(sim.Write, "operator~1", "DRAW", "data")
	p.claims(model.Claim{Pool: "10.0.0.0-24", Addr: addr})
	p.step(sim.Read, "cni-del/default/web-0/net1", "STAT", "files/a")
	p.event(model.Event{Kind: model.DelEnd, Actor: "cni-del/default/web-0/net1", Container: "c1"})
	p.want(p.breaks("convergence", model.AddressOf(addr)), "convergence, ended cni-del STAT files DEL ended")
}

// A leftover reservation is explained by the DEL that released its address, not by the ADD that
// created it, unless the ADD came later.
func TestReservationThatStays(t *testing.T) {
	reserved := model.Reservation{Name: "a", Addr: addr, Pod: web}
	breaks := func(p *play) *model.Violation {
		return p.breaks("leftover-reservation", model.AddressOf(addr), model.PodOf(web))
	}
	p := newPlay(t)
	p.step(sim.Write, "cni-add/default/web-0/net1", "PATCH", "ippools/a")
	p.claims(claim(web, "c1"))
	p.step(sim.Write, "cni-add/default/web-0/net1", "POST", "reservations/a")
	p.rep.Ledger.Note(2, model.Snapshot{Claims: p.rec.Claims, Reservations: []model.Reservation{reserved}})
	p.step(sim.Write, "cni-del/default/web-0/net1", "PATCH", "ippools/a")
	p.rep.Ledger.Note(3, model.Snapshot{Reservations: []model.Reservation{reserved}})
	p.event(model.Event{Kind: model.DelEnd, Actor: "cni-del/default/web-0/net1", Container: "c1"})
	p.want(breaks(p), "leftover-reservation, ended cni-del PATCH ippools DEL ended")

	p = newPlay(t)
	p.step(sim.Write, "cni-add/default/web-0/net1", "PATCH", "ippools/a")
	p.claims(claim(web, "c1"))
	p.step(sim.Write, "cni-del/default/web-0/net1", "PATCH", "ippools/a")
	p.claims()
	p.event(model.Event{Kind: model.DelEnd, Actor: "cni-del/default/web-0/net1", Container: "c1"})
	p.step(sim.Write, "cni-add/default/web-0/net1", "POST", "reservations/a")
	p.rep.Ledger.Note(3, model.Snapshot{Reservations: []model.Reservation{reserved}})
	p.want(breaks(p), "leftover-reservation, wrote cni-add POST reservations new")
}

// A free node port that is still in use is explained by the write that freed it, not by the
// write after which it was detected. A node port of two Services is explained by the second Service.
func TestFreeNodePort(t *testing.T) {
	p := newPlay(t)
	ports := func(all ...int) {
		p.rep.Ledger.Note(len(p.rep.Trace.Steps), model.Snapshot{Services: &model.Services{Ports: all, HasPorts: true}})
	}
	p.step(sim.Write, "kube-apiserver~1", "UPDATE", "ranges/ports")
	ports(30000)
	p.step(sim.Write, "kube-apiserver~2", "UPDATE", "ranges/ports")
	ports()
	p.step(sim.Write, "operator~1", "POST", "services/a")
	p.want(p.breaks("unbacked-service", model.NodePortOf(30000)), "unbacked-service, wrote kube-apiserver UPDATE ranges removed")
	p.step(sim.Write, "kube-apiserver~1", "CREATE", "services/a")
	p.want(p.breaks("duplicate-node-port", model.NodePortOf(30000)), "duplicate-node-port, wrote kube-apiserver CREATE services")

	// A fault of the server that freed the port counts, whichever server assigned it again.
	p.rep.Trace.Steps[1].Choice.Outcome = sim.LoseReply
	p.want(p.breaks("duplicate-node-port", model.NodePortOf(30000)), "duplicate-node-port, wrote kube-apiserver CREATE services, fault kube-apiserver UPDATE ranges error")
}

// A refusal may be detected long after it was sent.
func TestRefusedLongAgo(t *testing.T) {
	p := newPlay(t)
	p.step(sim.Write, "kube-apiserver~1", "CREATE", "ipaddresses/a").Choice.Outcome = sim.FailBefore
	p.step(sim.Write, "kube-apiserver~1", "DELETE", "services/b")
	v := p.breaks("refused-service", model.ServiceOf("default/a"))
	v.Facts = []model.Fact{model.NewFact("at", time.Duration(1))}
	if got, want := cause.Of(&p.rep, v).Key(), "refused-service, wrote kube-apiserver CREATE ipaddresses, fault kube-apiserver CREATE ipaddresses error"; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}

// A refusal is explained by the API server's last write, even if the request was sent after it.
func TestRefusedWithoutDelay(t *testing.T) {
	p := newPlay(t)
	p.step(sim.Write, "kube-apiserver~1", "CREATE", "ipaddresses/a").Choice.Outcome = sim.FailBefore
	p.step(sim.Write, "operator~1", "POST", "services/a")
	v := p.breaks("refused-service", model.ServiceOf("default/a"))
	v.Facts = []model.Fact{model.NewFact("at", time.Duration(2))}
	p.want(v, "refused-service, wrote kube-apiserver CREATE ipaddresses, fault kube-apiserver CREATE ipaddresses error")
}

// etcd refuses writes while its database is full, and not afterwards.
func TestNoSpace(t *testing.T) {
	for over, want := range map[bool]string{false: ", fault kube-apiserver no space", true: ""} {
		p := newPlay(t)
		p.event(model.Event{Kind: model.Operator, Action: model.ActionRef{Class: model.InjectedFault, Stops: model.StopsDatastore}})
		if over {
			p.event(model.Event{Kind: model.Operator, Action: model.ActionRef{Class: model.InjectedFault, Stops: model.StopsDatastore}, Over: true})
		}
		p.step(sim.Write, "kube-apiserver~1", "CREATE", "ipaddresses/a")
		v := p.breaks("refused-service", model.ServiceOf("default/a"))
		v.Facts = []model.Fact{model.NewFact("at", time.Duration(1))}
		p.want(v, "refused-service, wrote kube-apiserver CREATE ipaddresses"+want)
	}
}

// The address of a Service was lost by its release, though another Service has been assigned it since.
func TestLostAddressOfService(t *testing.T) {
	p := newPlay(t)
	claimOf := func(handle string) model.Claim { return model.Claim{Pool: "10.0.0.0-24", Addr: addr, Handle: handle} }
	p.step(sim.Write, "lb~1", "PUT", "ipamblocks/a")
	p.claims(claimOf("lb-a"))
	p.step(sim.Write, "lb~1", "PATCH", "ipamblocks/a")
	p.claims()
	p.step(sim.Write, "lb~1", "PUT", "ipamblocks/a")
	p.claims(claimOf("lb-b"))
	v := p.breaks("unserved-load-balancer", model.ServiceOf("default/a"), model.AddressOf(addr))
	v.Code = "no-address"
	p.want(v, "unserved-load-balancer, no-address, wrote lb PATCH ipamblocks removed")
}

// A claim that reappears with a node that had lost power is explained by the DEL that had
// removed it, not by the message after which the claim was seen.
func TestCameBackWithTheMachine(t *testing.T) {
	const del = "cni-del/default/web-0/net1"
	for _, next := range []struct{ actor, verb, path string }{{"operator~1", "DRAW", "data"}, {"node-lifecycle", "PATCH", "nodes/n1"}} {
		p := newPlay(t)
		p.step(sim.Write, "cni-add/default/web-0/net1", "WRITE", "files/a")
		p.claims(claim(web, "c1"))
		p.step(sim.Write, del, "REMOVE", "files/a")
		p.claims()
		p.event(model.Event{Kind: model.DelEnd, Actor: del, Container: "c1"})
		p.step(sim.Write, next.actor, next.verb, next.path)
		p.claims(claim(web, "c1"))
		p.want(p.breaks("convergence", model.AddressOf(addr), model.Ref{Kind: model.RefContainer, Name: "c1"}), "convergence, ended cni-del REMOVE files DEL ended")
	}
}

// A claim without an owner is explained by the call that created it, not by another call that
// failed on the same node.
func TestMadeForUnknownOwner(t *testing.T) {
	p := newPlay(t)
	const add, other = "cni-add/default/web-0/net1", "cni-add/default/db-0/net1"
	p.step(sim.Write, add, "CREATE", "files/a")
	p.claims(model.Claim{Pool: "n1", Addr: addr, Node: "n1"})
	p.event(model.Event{Kind: model.AddEnd, Actor: add, Node: "n1", Err: "killed"})
	p.step(sim.Write, other, "CREATE", "files/lock")
	p.event(model.Event{Kind: model.AddEnd, Actor: other, Node: "n1", Err: "killed"})
	pool, node := model.Ref{Kind: model.RefPool, Name: "n1"}, model.Ref{Kind: model.RefNode, Name: "n1"}
	v := p.breaks("convergence", model.AddressOf(addr), pool, node)
	if got := cause.Of(&p.rep, v); len(got.Links) == 0 || got.Links[0].Step != 1 || got.Links[0].Role != cause.Refused {
		t.Errorf("%+v", got.Links)
	}
}
