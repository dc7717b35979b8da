package main

import (
	"fmt"
	"maps"
	"net/netip"
	"slices"

	"ipamsim/model"
	"ipamsim/model/route"
)

// topology is one row of the lab: nodes, what connects them, and what the
// datastore says.
type topology struct {
	id, title string
	fabric    route.Fabric
	facts     route.Facts
	// ownClusterIDs: each route reflector has a cluster id of its own.
	ownClusterIDs bool
}

// The addresses of the lab: node a owns block X and runs a1 in it; b owns another
// block with b1, and holds the borrowed address of X; c stands by.
var (
	pool     = netip.MustParsePrefix("10.64.72.0/21")
	blockX   = netip.MustParsePrefix("10.64.75.0/26")
	borrowed = netip.MustParseAddr("10.64.75.0")
)

// topologies are the rows of the lab, in the order in which they are printed.
//
// The numbers are those of the table in which they were measured first. There,
// nodes of a mesh had no default route.
func topologies() []topology {
	mesh := route.Fabric{NoDefaultRoute: []string{"*"}}
	d := at("d", "10.64.0.14", "10.64.78.0/26", "10.64.78.5")
	lowest := at("d", "10.64.0.10", "10.64.78.0/26", "10.64.78.5")
	hermit := tors(route.TopOfRack{})
	hermit.NoDefaultRoute = []string{"c"}
	distinct := route.TopOfRack{DistinctAS: true}
	return []topology{
		three("1", "mesh", mesh),
		three("1d", "mesh, the session of owner and borrower is down", apart(mesh, owner, borrower)),
		three("1r", "mesh of two subnets, default routes", route.Fabric{}, inRackTwo()...),
		three("2", "route reflector c", reflecting("c")),
		three("3", "route reflector a, the owner", reflecting("a")),
		three("3d", "3, its session with the borrower is down", apart(reflecting("a"), owner, borrower)),
		three("3r", "two subnets, route reflectors b and c", route.Fabric{Topology: route.Reflectors, Reflectors: []string{"b", "c"}}, inRackTwo()...),
		three("3b", "3d and a second reflector, same cluster id", apart(reflecting("a", "d"), owner, borrower), d),
		three("3c", "3d and a second reflector, another cluster id", apart(reflecting("a", "d"), owner, borrower), d).separate(),
		three("4", "one ToR, distinct AS, takes nothing longer than /26", tor26(route.TopOfRack{DistinctAS: true})),
		three("4b", "one ToR, distinct AS", tors(distinct)),
		three("4c", "two racks, distinct AS, host routes only inside them", tor26(route.TopOfRack{DistinctAS: true, MaxLengthBetween: true}), inRackTwo()...),
		three("4d", "two racks, distinct AS, nothing longer than /26", tor26(distinct), inRackTwo()...),
		three("4s", "4b, the borrower's session with the ToR is down", apart(tors(distinct), "b", "tor1")),
		three("4t", "two racks, the session of the ToRs is down", apart(tors(distinct), "tor1", "tor2"), inRackTwo()...),
		three("4m", "4 with the same AS, and the mesh", tor26(route.TopOfRack{Mesh: true})),
		three("5", "one ToR, same AS", tors(route.TopOfRack{})),
		three("5n", "5, c without a default route", hermit),
		three("5b", "5, nodes allow their own AS once", tors(route.TopOfRack{AllowLocalAS: 1})),
		three("5c", "5, the ToR overrides the AS", tors(route.TopOfRack{ASOverride: true})),
		three("5d", "two racks, same AS", tors(route.TopOfRack{}), inRackTwo()...),
		three("5o", "5d, the ToRs override the AS", tors(route.TopOfRack{ASOverride: true}), inRackTwo()...),
		three("5m", "5d, and the mesh", tors(route.TopOfRack{Mesh: true}), inRackTwo()...),
		three("5e", "5, and the mesh", tors(route.TopOfRack{Mesh: true})),
		three("5g", "one ToR, distinct AS, default route only", tors(route.TopOfRack{DistinctAS: true, DefaultOnly: true})),
		three("5h", "two racks, distinct AS, default route only", tors(route.TopOfRack{DistinctAS: true, DefaultOnly: true}), inRackTwo()...),
		three("6", "mesh, pool not exported", mesh).where(noExport),
		three("6b", "5, pool not exported", tors(route.TopOfRack{})).where(noExport),
		three("7", "mesh, d's affinity for X is pendingDeletion", mesh, d).where(stale("d", model.PendingDeletion)),
		three("7b", "7, d has the lowest router id", mesh, lowest).where(stale("d", model.PendingDeletion)),
		three("7c", "7, d's affinity is confirmed too", mesh, d).where(stale("d", model.Confirmed)),
		three("7d", "7 behind one ToR, distinct AS", tors(distinct), lowest).where(stale("d", model.PendingDeletion)),
		three("7e", "7 behind one ToR, same AS", tors(route.TopOfRack{}), lowest).where(stale("d", model.PendingDeletion)),
		three("7t", "two racks, d in the other rack than the owner", tors(distinct),
			append(inRackTwo(), at("d", "10.64.1.10", "10.64.79.0/26", "10.64.79.5"))...).where(stale("d", model.PendingDeletion)),
		three("7r", "7 with route reflector c", reflecting("c"), d).where(stale("d", model.PendingDeletion)),
		three("8o", "mesh, blocks of one address at c", mesh, at("c", "10.64.0.13", "10.64.77.5/32", "10.64.77.5")),
		three("8p", "mesh, a's affinity for X is pending", mesh).where(func(f *route.Facts) { f.Affinities[0].State = model.Pending }),
		three("8v", "mesh, VXLAN pool, no Felix", mesh).where(vxlan("Always", false)),
		three("8f", "8v with Felix's routes", mesh).where(vxlan("Always", true)),
		three("8x", "two subnets, VXLAN between them", route.Fabric{}, inRackTwo()...).where(vxlan("CrossSubnet", true)),
		three("8i", "mesh, IPIP pool", mesh).where(ipip("Always")),
		three("8j", "two subnets, IPIP between them", route.Fabric{}, inRackTwo()...).where(ipip("CrossSubnet")),
		three("9", "mesh, the owner is gone from the cluster", mesh).where(gone("a")),
	}
}

// placed is one node and its block with a pod.
type placed struct {
	node  route.Node
	block netip.Prefix
	pod   netip.Addr
}

func at(name, addr, block, pod string) placed {
	return placed{
		node:  route.Node{Name: name, Addr: netip.MustParsePrefix(addr + "/24"), Up: true, BIRD: true, Felix: true},
		block: netip.MustParsePrefix(block), pod: netip.MustParseAddr(pod),
	}
}

// three is a topology of a, b and c, and others; a node that is placed again
// replaces the first.
func three(id, title string, f route.Fabric, others ...placed) topology {
	nodes := map[string]placed{}
	for _, p := range append([]placed{
		at("a", "10.64.0.11", blockX.String(), "10.64.75.5"),
		at("b", "10.64.0.12", "10.64.76.0/26", "10.64.76.5"),
		at("c", "10.64.0.13", "10.64.77.0/26", "10.64.77.5"),
	}, others...) {
		nodes[p.node.Name] = p
	}
	facts := route.Facts{Pools: []model.IPPool{{Name: "pool", Prefix: pool, BlockBits: 26}}}
	for _, name := range slices.Sorted(maps.Keys(nodes)) {
		p := nodes[name]
		facts.Nodes = append(facts.Nodes, p.node)
		facts.Affinities = append(facts.Affinities, model.Affinity{Block: p.block, Node: name, State: model.Confirmed})
		facts.Local = append(facts.Local, route.Local{Node: name, Addr: p.pod, Dev: "cali" + name + "1"})
		if name == "b" {
			facts.Local = append(facts.Local, route.Local{Node: name, Addr: borrowed, Dev: "calibw"})
		}
	}
	return topology{id: id, title: title, fabric: f, facts: facts}
}

// where changes the facts.
func (t topology) where(change func(*route.Facts)) topology {
	change(&t.facts)
	return t
}

// separate gives each route reflector a cluster id of its own.
func (t topology) separate() topology {
	t.ownClusterIDs = true
	return t
}

// reflecting is a fabric with route reflectors, as in a mesh without default
// routes.
func reflecting(reflectors ...string) route.Fabric {
	return route.Fabric{Topology: route.Reflectors, Reflectors: reflectors, NoDefaultRoute: []string{"*"}}
}

// apart takes a session down.
func apart(f route.Fabric, a, b string) route.Fabric {
	f.Down = []route.Session{{A: a, B: b}}
	return f
}

// tors is a fabric with top-of-rack routers.
func tors(t route.TopOfRack) route.Fabric { return route.Fabric{Topology: route.ToR, TopOfRack: t} }

// tor26 is one whose routers do not take prefixes longer than a block.
func tor26(t route.TopOfRack) route.Fabric {
	t.MaxLength = 26
	return tors(t)
}

// inRackTwo moves b to a second subnet and adds e there.
func inRackTwo() []placed {
	return []placed{at("b", "10.64.1.12", "10.64.76.0/26", "10.64.76.5"), at("e", "10.64.1.15", "10.64.78.0/26", "10.64.78.5")}
}

func noExport(f *route.Facts) { f.Pools[0].NoExport = true }

// vxlan makes it a VXLAN pool, whose routes are Felix's if it runs.
func vxlan(mode string, felix bool) func(*route.Facts) {
	return func(f *route.Facts) {
		f.Pools[0].VXLAN = mode
		for i, n := range f.Nodes {
			block := route.Block{Prefix: f.Affinities[i].Block, Node: n.Name}
			f.Nodes[i].Felix = felix
			f.Nodes[i].Tunnel = block.Prefix.Addr().Next()
			if block.Prefix == blockX {
				block.Borrowed = []route.Borrowed{{Addr: borrowed, Node: borrower}}
			}
			f.Blocks = append(f.Blocks, block)
		}
	}
}

// ipip makes it an IPIP pool. There is none in IPv6.
//
// Source: libcalico-go/lib/validator/v3, validateIPPoolSpec (v3.31).
func ipip(mode string) func(*route.Facts) {
	return func(f *route.Facts) {
		f.Pools[0].IPIP = mode
		for i := range f.Nodes {
			f.Nodes[i].Tunnel = f.Affinities[i].Block.Addr().Next()
		}
	}
}

// stale gives a node an affinity for X beside the owner's, and the owner three
// more pods, so that flows to several addresses are seen.
func stale(node, state string) func(*route.Facts) {
	return func(f *route.Facts) {
		f.Affinities = append(f.Affinities, model.Affinity{Block: blockX, Node: node, State: state})
		for i := 2; i <= 4; i++ {
			f.Local = append(f.Local, route.Local{
				Node: "a", Addr: netip.AddrFrom4([4]byte{10, 64, 75, byte(4 + i)}), Dev: fmt.Sprintf("calia%d", i),
			})
		}
	}
}

// gone removes a node and its pods and affinities.
func gone(node string) func(*route.Facts) {
	return func(f *route.Facts) {
		f.Nodes = slices.DeleteFunc(f.Nodes, func(n route.Node) bool { return n.Name == node })
		f.Affinities = slices.DeleteFunc(f.Affinities, func(a model.Affinity) bool { return a.Node == node })
		f.Local = slices.DeleteFunc(f.Local, func(l route.Local) bool { return l.Node == node })
	}
}
