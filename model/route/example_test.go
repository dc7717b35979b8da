package route_test

import (
	"fmt"
	"net/netip"

	"ipamsim/model"
	"ipamsim/model/route"
)

// Two nodes have a session each with the router of their rack, under one AS number: b borrows an
// address of a's block, and a never receives the route.
func ExampleConverge() {
	block, pool := netip.MustParsePrefix("10.64.75.0/26"), netip.MustParsePrefix("10.64.75.0/24")
	borrowed := netip.MustParseAddr("10.64.75.0")
	tables := route.Converge(route.Fabric{Topology: route.ToR}, route.Facts{
		Nodes: []route.Node{
			{Name: "a", Addr: netip.MustParsePrefix("10.64.0.11/24"), Up: true, BIRD: true, Felix: true},
			{Name: "b", Addr: netip.MustParsePrefix("10.64.0.12/24"), Up: true, BIRD: true, Felix: true},
		},
		Local:      []route.Local{{Node: "b", Addr: borrowed, Dev: "calidda3b144ba9"}},
		Affinities: []model.Affinity{{Node: "a", Block: block, State: model.Confirmed}},
		Pools:      []model.IPPool{{Prefix: pool}},
	})
	a, _ := tables.Of("a")
	fmt.Print(a)
	for _, way := range tables.Walk("a", borrowed) {
		fmt.Println(way.End, "at", way.At+":", way.Route)
	}
	// Output:
	// default via 10.64.0.1 dev eth0 onlink
	// 10.64.0.0/24 dev eth0 proto kernel scope link src 10.64.0.11
	// blackhole 10.64.75.0/26 proto bird
	// blackholed at a: blackhole 10.64.75.0/26 proto bird
}
