package cause_test

import (
	"net/netip"
	"strings"
	"testing"

	"ipamsim/fuzz/cause"
	"ipamsim/model"
	"ipamsim/model/act"
	"ipamsim/sim"
)

// To exceed a limit without ever reading how many blocks exist is another mistake than to
// count them wrongly.
func TestLimitNotRead(t *testing.T) {
	block := netip.MustParsePrefix("10.0.0.0/24")
	for _, listed := range []bool{true, false} {
		p := newPlay(t)
		path := "blockaffinities/node-1-a"
		if listed {
			path = "blockaffinities"
		}
		p.step(sim.Read, "cni-add/default/web-0/eth0", "GET", path)
		p.step(sim.Write, "cni-add/default/web-0/eth0", "PUT", "blockaffinities/node-1-a")
		p.rep.Ledger.Note(2, model.Snapshot{Affinities: []model.Affinity{{Block: block, Node: "node-1"}}})
		v := p.breaks("max-blocks", model.BlockOf(block), model.Ref{Kind: model.RefNode, Name: "node-1"})
		v.Code = "in-one-pool"
		name := cause.Of(&p.rep, v).Name()
		if got := strings.Contains(name, "in-one-pool") && !strings.Contains(name, "unlisted"); got != listed {
			t.Errorf("listed %t: %s", listed, name)
		}
	}
}

// A node may be unable to reach an address because the address was borrowed from another node's
// block, or because a node on the route has no tunnel address.
func TestRouteToAddress(t *testing.T) {
	block := netip.MustParsePrefix("10.0.0.0/24")
	node := func(name string) model.Ref { return model.Ref{Kind: model.RefNode, Name: name} }
	tunnel := func(of, a string) model.Claim {
		return model.Claim{Pool: block.String(), Addr: netip.MustParseAddr(a), Node: of, Tunnel: true, Handle: "vxlan-" + of}
	}
	for _, tt := range []struct {
		name, owner, want string
		tunnels           []model.Claim
	}{
		{"plainly", "node-1", "", nil},
		{"borrowed", "node-2", " borrowed", nil},
		{"with tunnels", "node-1", "", []model.Claim{tunnel("node-1", "10.0.0.8"), tunnel("node-2", "10.0.0.9")}},
		{"one has none", "node-1", " without a tunnel", []model.Claim{tunnel("node-1", "10.0.0.8")}},
	} {
		p := newPlay(t)
		p.step(sim.Write, "cni-add/default/web-0/eth0", "PUT", "ipamblocks/a")
		c := claim(web, "c1")
		c.Pool, c.Node = block.String(), "node-1"
		p.rep.Ledger.Note(1, model.Snapshot{
			Pools: []model.Pool{{Name: c.Pool, Range: block}}, Affinities: []model.Affinity{{Block: block, Node: tt.owner}}, Claims: append(tt.tunnels, c),
		})
		v := p.breaks("blackholed-address", model.AddressOf(addr), node("node-2"), model.PodOf(web))
		v.Facts = []model.Fact{model.NewFact("from", node("node-2")), model.NewFact("on", node("node-1"))}
		if got := cause.Of(&p.rep, v).Name(); got != "blackholed-address, wrote cni-add PUT ipamblocks new"+tt.want {
			t.Errorf("%s: %s", tt.name, got)
		}
	}
}

// Counting up for a claim that meets a conflict differs from counting up for a claim that is
// never written.
func TestCountedBeforeConflict(t *testing.T) {
	handle, block := model.Ref{Kind: model.RefHandle, Name: "net.c1"}, netip.MustParsePrefix("10.0.0.0/24")
	for outcome, want := range map[act.Outcome]string{act.Conflict: "counted before a conflict", act.Done: "counted"} {
		p := newPlay(t)
		const add = "cni-add/default/web-0/net1"
		p.step(sim.Write, add, "PUT", "ipamhandles/a")
		p.rep.Ledger.Note(1, model.Snapshot{Handles: []model.Handle{{ID: handle.Name, Counts: []model.HandleCount{{Block: block, Count: 1}}}}})
		p.step(sim.Write, add, "PUT", "ipamblocks/a").Detail = "the block"
		p.rep.Act = func(any) act.Act { return act.Act{Verb: act.Update, Outcome: outcome} }
		v := p.breaks("handle-count", handle, model.BlockOf(block))
		v.Code = "counted-too-many"
		p.want(v, "handle-count, counted-too-many, wrote cni-add PUT ipamhandles "+want)
	}
}

// An operator's change of another block is not why a handle counts too many addresses of this block.
func TestOperatorWriteInAnotherBlock(t *testing.T) {
	handle := model.Ref{Kind: model.RefHandle, Name: "net.c1"}
	block, other := netip.MustParsePrefix("10.0.0.0/24"), netip.MustParsePrefix("10.0.1.0/24")
	p := newPlay(t)
	pools := []model.Pool{{Name: "b", Range: other}}
	h := model.Handle{ID: handle.Name}
	note := func(blocks ...netip.Prefix) {
		h.Counts = nil
		for _, b := range blocks {
			h.Counts = append(h.Counts, model.HandleCount{Block: b, Count: 1})
		}
		p.rep.Ledger.Note(len(p.rep.Trace.Steps), model.Snapshot{Pools: pools, Handles: []model.Handle{h}})
	}
	p.step(sim.Write, "cni-add/default/web-0/net1", "PUT", "ipamhandles/a")
	note(block)
	p.step(sim.Write, "cni-add/default/web-0/net1", "PUT", "ipamhandles/a")
	note(block, other)
	v := p.breaks("handle-count", handle, model.BlockOf(block))
	v.Code = "counted-too-many"
	want := cause.Of(&p.rep, v).Key()
	p.step(sim.Write, "operator~2", "PUT", "ipamblocks/b")
	released := claim(web, "c1")
	released.Handle, released.Pool = handle.Name, "b"
	p.rep.Ledger.Note(3, model.Snapshot{Pools: pools, Handles: []model.Handle{h}, Claims: []model.Claim{released}})
	v.Step = 3
	if got := cause.Of(&p.rep, v).Key(); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
