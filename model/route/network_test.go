package route_test

import (
	"net/netip"
	"testing"
	"time"

	"ipamsim/model"
	"ipamsim/model/route"
)

// A pool of IPv6 makes routes of its own: the owner of a block drops what it sends to an
// address that another node borrowed, as in IPv4.
func TestNetworkOfBothFamilies(t *testing.T) {
	n := route.NewNetwork(tor(route.TopOfRack{}))
	four, six := labFacts(), labFacts6()
	n.Observe(0, four, six)
	for at, ok := n.Next(); ok; at, ok = n.Next() {
		n.Advance(at)
	}
	lost := map[string]string{}
	for _, l := range n.Losses() {
		lost[l.From+" "+l.To.String()] = l.Route
	}
	for pair, want := range map[string]string{
		"a 10.64.75.0": "blackhole 10.64.75.0/26 proto bird",
		"a fd64::":     "blackhole fd64::/122 dev lo proto bird metric 1024 pref medium",
	} {
		if lost[pair] != want {
			t.Errorf("%s: lost by %q, want %q", pair, lost[pair], want)
		}
	}
	if table, ok := n.Table("b", true); !ok || table.String() != `default via fd00::1 dev eth0 metric 1024 onlink pref medium
fd00::/64 dev eth0 proto kernel metric 256 pref medium
fd64:: dev calibw metric 1024 pref medium
blackhole fd64::40/122 dev lo proto bird metric 1024 pref medium
` {
		t.Errorf("b has\n%s", table)
	}
}

// Adding an IPv6 pool to a cluster that has run for a while starts no daemon: its routes are
// there immediately.
func TestIPv6Later(t *testing.T) {
	n := route.NewNetwork(route.Fabric{})
	six := labFacts6()
	n.Observe(0, labFacts(), route.Facts{Nodes: six.Nodes})
	n.Advance(time.Hour)
	n.Observe(time.Hour, labFacts(), six)
	n.Advance(time.Hour + 100*time.Millisecond)
	if l := n.Losses(); len(l) > 0 {
		t.Errorf("lost: %v", l)
	}
}

// A node without an IPv4 address has the router id that CALICO_ROUTER_ID=hash gives it.
func TestRouterID(t *testing.T) {
	if got, want := route.RouterID("node-a"), netip.MustParseAddr("102.87.15.240"); got != want {
		t.Errorf("router id %v, want %v, the first octets of the name's SHA-256", got, want)
	}
}

// labFacts6 returns an owner, a borrower and a bystander in IPv6.
func labFacts6() route.Facts {
	f := route.Facts{Pools: []model.IPPool{{Name: "six", Prefix: cidr("fd64::/120"), BlockBits: 122}}}
	for i, name := range []string{"a", "b", "c"} {
		addr := netip.MustParseAddr("fd00::10")
		for range i {
			addr = addr.Next()
		}
		f.Nodes = append(f.Nodes, route.Node{Name: name, Addr: netip.PrefixFrom(addr, 64), Up: true, BIRD: true, Felix: true})
	}
	f.Affinities = []model.Affinity{{Block: cidr("fd64::/122"), Node: "a", State: model.Confirmed}, {Block: cidr("fd64::40/122"), Node: "b", State: model.Confirmed}}
	f.Local = []route.Local{{Node: "a", Addr: netip.MustParseAddr("fd64::5"), Dev: "calia1"}, {Node: "b", Addr: netip.MustParseAddr("fd64::"), Dev: "calibw"}}
	return f
}
