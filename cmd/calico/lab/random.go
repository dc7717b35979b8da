package main

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"

	"ipamsim/model"
	"ipamsim/model/route"
)

// random generates topologies: the same seed and number give the same topology. Some are nonsense;
// the model must agree with BIRD about them too.
//
// It excludes topologies in which BIRD's answer depends on which peer sends first. A node prefers
// a route from BGP (preference 100) to one from its kernel (10): when a router announces the node's
// own pod to it, by way of another node, it stops announcing the pod, and that stays so. Nodes
// announce other nodes' routes to routers in addition to a mesh, and routes that Felix makes for
// VXLAN pools. It also excludes addresses that two nodes have, and meshes over subnets that some
// node has no route to.
func random(seed, number uint64) topology {
	d := dice{rand.New(rand.NewPCG(seed, number))}
	t := topology{id: fmt.Sprintf("r%d", number), fabric: d.fabric()}
	d.nodes(&t.facts)
	d.affinities(&t.facts)
	d.pods(&t.facts)
	d.pool(&t)
	d.speakers(&t)
	t.title = fmt.Sprintf("seed %d: %s, %d nodes, %d addresses", seed, t.fabric.Topology, len(t.facts.Nodes), len(t.facts.Local))
	return t
}

type dice struct{ *rand.Rand }

// in reports true once in n throws.
func (d dice) in(n int) bool { return d.IntN(n) == 0 }

func (d dice) fabric() route.Fabric {
	switch d.IntN(4) {
	case 0:
		return route.Fabric{Topology: route.Mesh}
	case 1:
		return route.Fabric{Topology: route.Reflectors}
	}
	t := route.TopOfRack{DistinctAS: d.in(2), DefaultOnly: d.in(5), AllowLocalAS: d.IntN(3) / 2, ASOverride: d.in(4)}
	if t.Mesh = !t.DistinctAS && d.in(3); t.Mesh {
		t.AllowLocalAS, t.ASOverride = 0, false
	}
	if d.in(3) {
		t.MaxLength, t.MaxLengthBetween = 26, d.in(2)
	}
	return route.Fabric{Topology: route.ToR, TopOfRack: t}
}

// nodes are three to five, in one to three subnets.
func (d dice) nodes(f *route.Facts) {
	subnets := 1 + d.IntN(3)
	hosts := d.Perm(100)
	for i := range 3 + d.IntN(3) {
		addr := netip.AddrFrom4([4]byte{10, 64, byte(d.IntN(subnets)), byte(10 + hosts[i])})
		f.Nodes = append(f.Nodes, route.Node{
			Name: string(rune('a' + i)), Addr: netip.PrefixFrom(addr, 24), Up: true, BIRD: true, Felix: true,
		})
	}
}

func block(i int) netip.Prefix {
	return netip.PrefixFrom(netip.AddrFrom4([4]byte{10, 64, 72 + byte(i), 0}), 26)
}

// affinities are one block for each node, in any state, and some that are stale.
func (d dice) affinities(f *route.Facts) {
	states := []string{model.Confirmed, model.Confirmed, model.Confirmed, model.Confirmed, model.PendingDeletion, model.Pending}
	for i, n := range f.Nodes {
		f.Affinities = append(f.Affinities, model.Affinity{Block: block(i), Node: n.Name, State: states[d.IntN(len(states))]})
		if other := d.IntN(len(f.Nodes)); other != i && d.in(4) {
			f.Affinities = append(f.Affinities, model.Affinity{Block: block(other), Node: n.Name, State: states[d.IntN(len(states))]})
		}
	}
}

// pods are one of each node in its block, and some in those of others.
func (d dice) pods(f *route.Facts) {
	for i, n := range f.Nodes {
		for k, other := range f.Nodes {
			if i != k && !d.in(5) {
				continue
			}
			a := block(k).Addr().As4()
			a[3] = byte(8 + i)
			f.Local = append(f.Local, route.Local{Node: n.Name, Addr: netip.AddrFrom4(a), Dev: "cali" + n.Name + other.Name})
		}
	}
}

// pool is one, or two that share the blocks out. Tunnel addresses are always of a
// VXLAN pool, so that only a single one is made one.
func (d dice) pool(t *topology) {
	f := &t.facts
	f.Pools = []model.IPPool{{Name: "pool", Prefix: pool, BlockBits: 26, NoExport: d.in(8)}}
	if d.in(6) {
		low := netip.PrefixFrom(pool.Addr(), 23)
		high := netip.PrefixFrom(netip.MustParseAddr("10.64.74.0"), 23)
		f.Pools = []model.IPPool{{Name: "low", Prefix: low, BlockBits: 26, NoExport: d.in(2)}, {Name: "high", Prefix: high, BlockBits: 26}}
	}
	if t.fabric.Topology == route.ToR || len(f.Pools) > 1 || !d.in(3) {
		return
	}
	f.Pools[0].VXLAN = []string{"Always", "CrossSubnet"}[d.IntN(2)]
	for i := range f.Nodes {
		f.Nodes[i].Tunnel = block(i).Addr().Next()
		b := route.Block{Prefix: block(i), Node: f.Nodes[i].Name}
		for _, l := range f.Local {
			if block(i).Contains(l.Addr) && l.Node != b.Node {
				b.Borrowed = append(b.Borrowed, route.Borrowed{Addr: l.Addr, Node: l.Node})
			}
		}
		f.Blocks = append(f.Blocks, b)
	}
}

// speakers are who reflects, who has no default route, and a session that is down.
func (d dice) speakers(t *topology) {
	oneSubnet := len(t.fabric.Routers(t.facts.Nodes)) == 1
	var names []string
	for _, n := range t.facts.Nodes {
		names = append(names, n.Name)
		if d.in(4) && (oneSubnet || t.fabric.Topology == route.ToR && !t.fabric.TopOfRack.Mesh) {
			t.fabric.NoDefaultRoute = append(t.fabric.NoDefaultRoute, n.Name)
		}
	}
	order := d.Perm(len(names))
	if t.fabric.Topology == route.Reflectors {
		for _, i := range order[:1+d.IntN(2)] {
			t.fabric.Reflectors = append(t.fabric.Reflectors, names[i])
		}
	}
	if !d.in(3) {
		return
	}
	down := route.Session{A: names[order[0]], B: names[order[1]]} // the first reflects, if any does
	if t.fabric.Topology == route.ToR && !t.fabric.TopOfRack.Mesh {
		own := t.facts.Nodes[order[0]].Addr.Masked()
		routers := t.fabric.Routers(t.facts.Nodes)
		down.B = routers[slices.IndexFunc(routers, func(r route.Router) bool { return r.Addr.Masked() == own })].Name
	}
	t.fabric.Down = []route.Session{down}
}
