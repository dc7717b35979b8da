package route_test

import (
	"net/netip"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ipamsim/model"
	"ipamsim/model/route"
	"ipamsim/model/route/fib"
)

// The tables of the incident in seeds/000, to the letter: kubestage1003 borrowed
// 10.64.75.0 from a block of kubestage1001.
func TestIncidentTables(t *testing.T) {
	tables := route.Converge(route.Fabric{Topology: route.ToR, Device: "eno1"}, route.Facts{
		Nodes: []route.Node{node("kubestage1001", "10.64.0.247/22"), node("kubestage1003", "10.64.16.55/22")},
		Local: []route.Local{
			{Node: "kubestage1001", Addr: ip("10.64.75.4"), Dev: "cali21fc9e9645e"},
			{Node: "kubestage1003", Addr: ip("10.64.75.0"), Dev: "calidda3b144ba9"},
		},
		Affinities: []model.Affinity{affinity("kubestage1001", blockX, model.Confirmed)},
		Pools:      []model.IPPool{{Prefix: cidr("10.64.75.0/24")}},
	})
	for name, want := range map[string]string{
		"kubestage1003": `default via 10.64.16.1 dev eno1 onlink
10.64.16.0/22 dev eno1 proto kernel scope link src 10.64.16.55
10.64.75.0 dev calidda3b144ba9 scope link
`,
		"kubestage1001": `default via 10.64.0.1 dev eno1 onlink
10.64.0.0/22 dev eno1 proto kernel scope link src 10.64.0.247
blackhole 10.64.75.0/26 proto bird
10.64.75.4 dev cali21fc9e9645e scope link
`,
	} {
		got, ok := tables.Of(name)
		if diff := cmp.Diff(want, got.String()); !ok || diff != "" {
			t.Errorf("%s (-want +got)\n%s", name, diff)
		}
	}
	if _, ok := tables.Of("kubestage1009"); ok {
		t.Error("a node that nobody knows has a table")
	}
}

// Two subnets, a pod each, and one borrowed address, under every encapsulation.
func TestEncapsulation(t *testing.T) {
	facts := func(change func(*model.IPPool)) route.Facts {
		f := route.Facts{
			Nodes: []route.Node{node("a", "10.64.0.11/24"), node("b", "10.64.0.12/24"), node("e", "10.64.1.15/24")},
			Local: []route.Local{pod("a", "10.64.75.5"), pod("e", "10.64.75.6")},
			Affinities: []model.Affinity{
				affinity("a", blockX, model.Confirmed), affinity("b", "10.64.76.0/26", model.Confirmed), affinity("e", "10.64.77.0/26", model.Confirmed),
			},
			Pools: []model.IPPool{{Prefix: cidr("10.64.72.0/21")}},
			Blocks: []route.Block{
				{Prefix: cidr(blockX), Node: "a", Borrowed: []route.Borrowed{{Addr: ip("10.64.75.6"), Node: "e"}}},
				{Prefix: cidr("10.64.76.0/26"), Node: "b"},
				{Prefix: cidr("10.64.77.0/26"), Node: "e"},
			},
		}
		f.Nodes[0].Tunnel, f.Nodes[1].Tunnel, f.Nodes[2].Tunnel = ip("10.64.75.1"), ip("10.64.76.1"), ip("10.64.77.1")
		change(&f.Pools[0])
		return f
	}
	const own = "default via 10.64.0.1 dev eth0 onlink\n10.64.0.0/24 dev eth0 proto kernel scope link src 10.64.0.11\n"
	for _, row := range []struct {
		name   string
		change func(*model.IPPool)
		want   string // a's table below its own subnet
		works  bool   // a reaches 10.64.75.6 on e
	}{
		{"none, and no router knows the pool", func(*model.IPPool) {}, `blackhole 10.64.75.0/26 proto bird
10.64.75.5 dev calia1064755 scope link
10.64.75.6 via 10.64.0.1 dev eth0 proto bird
10.64.76.0/26 via 10.64.0.12 dev eth0 proto bird
10.64.77.0/26 via 10.64.0.1 dev eth0 proto bird
`, false},
		{"IPIP Always", func(p *model.IPPool) { p.IPIP = "Always" }, `blackhole 10.64.75.0/26 proto bird
10.64.75.5 dev calia1064755 scope link
10.64.75.6 via 10.64.1.15 dev tunl0 proto bird onlink
10.64.76.0/26 via 10.64.0.12 dev tunl0 proto bird onlink
10.64.77.0/26 via 10.64.1.15 dev tunl0 proto bird onlink
`, true},
		{"IPIP CrossSubnet", func(p *model.IPPool) { p.IPIP = "CrossSubnet" }, `blackhole 10.64.75.0/26 proto bird
10.64.75.5 dev calia1064755 scope link
10.64.75.6 via 10.64.1.15 dev tunl0 proto bird onlink
10.64.76.0/26 via 10.64.0.12 dev eth0 proto bird
10.64.77.0/26 via 10.64.1.15 dev tunl0 proto bird onlink
`, true},
		{"VXLAN Always", func(p *model.IPPool) { p.VXLAN = "Always" }, `blackhole 10.64.75.0/26 proto 80
10.64.75.5 dev calia1064755 scope link
10.64.75.6 via 10.64.77.1 dev vxlan.calico onlink
10.64.76.0/26 via 10.64.76.1 dev vxlan.calico onlink
10.64.77.0/26 via 10.64.77.1 dev vxlan.calico onlink
`, true},
		{"VXLAN CrossSubnet", func(p *model.IPPool) { p.VXLAN = "CrossSubnet" }, `blackhole 10.64.75.0/26 proto 80
10.64.75.5 dev calia1064755 scope link
10.64.75.6 via 10.64.77.1 dev vxlan.calico onlink
10.64.76.0/26 via 10.64.0.12 dev eth0 proto 80 onlink
10.64.77.0/26 via 10.64.77.1 dev vxlan.calico onlink
`, true},
	} {
		t.Run(row.name, func(t *testing.T) {
			tables := route.Converge(route.Fabric{}, facts(row.change))
			a, _ := tables.Of("a")
			if diff := cmp.Diff(own+row.want, a.String()); diff != "" {
				t.Errorf("a's table (-want +got)\n%s", diff)
			}
			if all, _ := fib.Arrives(tables.Walk("a", ip("10.64.75.6"))); all != row.works {
				t.Errorf("a reaches the borrowed address: %t\n%s", all, dump(tables))
			}
		})
	}
}

// VXLAN routes come from blocks, not from BGP: without a BIRD, and with a stale
// affinity, everything is reached; a borrowed address that the record does not
// show as borrowed is swallowed by its owner's blackhole.
func TestVXLANNeedsTheRecord(t *testing.T) {
	f := withD(labFacts(), "10.64.0.14/24", model.PendingDeletion)
	f.Pools[0].VXLAN = "Always"
	for i := range f.Nodes {
		f.Nodes[i].BIRD, f.Nodes[i].Tunnel = false, ip("10.64.79.1").Next()
		for range i {
			f.Nodes[i].Tunnel = f.Nodes[i].Tunnel.Next()
		}
	}
	f.Blocks = []route.Block{
		{Prefix: cidr(blockX), Node: "a", Borrowed: []route.Borrowed{{Addr: ip("10.64.75.0"), Node: "b"}}},
		{Prefix: cidr("10.64.76.0/26"), Node: "b"}, {Prefix: cidr("10.64.77.0/26"), Node: "c"}, {Prefix: cidr("10.64.78.0/26"), Node: "d"},
	}
	for _, pair := range [][2]string{{"a", "bw"}, {"c", "bw"}, {"bw", "a1"}, {"d1", "a1"}, {"c1", "d1"}} {
		if got := ping(route.Converge(noDefault(), f), pair[0], pair[1]); got != "ok" {
			t.Errorf("%s→%s: %s", pair[0], pair[1], got)
		}
	}
	f.Blocks[0].Borrowed = nil
	if got := ping(route.Converge(noDefault(), f), "c", "bw"); got != "lost at a" {
		t.Errorf("c→bw with a record that does not know the borrower: %s", got)
	}
}

func TestBlocksOf(t *testing.T) {
	got := route.BlocksOf(model.Snapshot{
		Pools: []model.Pool{{Name: "x", Range: cidr(blockX), Node: "a"}, {Name: "y", Range: cidr("10.64.76.0/26")}},
		Claims: []model.Claim{
			{Pool: "x", Addr: ip("10.64.75.0"), Node: "b"}, {Pool: "x", Addr: ip("10.64.75.5"), Node: "a"},
			{Pool: "y", Addr: ip("10.64.76.5"), Node: "c"}, {Pool: "y", Addr: ip("10.64.76.6")}, {Pool: "gone", Addr: ip("10.64.77.6"), Node: "c"},
		},
	})
	want := []route.Block{
		{Prefix: cidr(blockX), Node: "a", Borrowed: []route.Borrowed{{Addr: ip("10.64.75.0"), Node: "b"}}},
		{Prefix: cidr("10.64.76.0/26"), Borrowed: []route.Borrowed{{Addr: ip("10.64.76.5"), Node: "c"}}},
	}
	if diff := cmp.Diff(want, got, cmp.Comparer(func(a, b route.Block) bool {
		return a.Prefix == b.Prefix && a.Node == b.Node && cmp.Equal(a.Borrowed, b.Borrowed, cmp.Comparer(func(x, y route.Borrowed) bool { return x == y }))
	})); diff != "" {
		t.Error(diff)
	}
}

// Felix keeps the routes of a block by destination, the block's own last. Of a block of one
// address only the owner's route is left, and the borrower is unreachable.
func TestVXLANLosesTheBorrowerOfAnAddressThatIsABlock(t *testing.T) {
	f := labFacts()
	f.Pools[0].VXLAN, f.Affinities = "Always", nil
	f.Local = []route.Local{pod("b", "10.64.75.0")}
	for i := range f.Nodes {
		f.Nodes[i].Tunnel = netip.AddrFrom4([4]byte{10, 64, 79, byte(i + 1)})
	}
	f.Blocks = []route.Block{{Prefix: cidr("10.64.75.0/32"), Node: "a", Borrowed: []route.Borrowed{{Addr: ip("10.64.75.0"), Node: "b"}}}}
	if got := ping(route.Converge(noDefault(), f), "c", "bw"); got != "unreachable at a" {
		t.Errorf("c→bw: %s", got)
	}
}
