package route_test

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"ipamsim/model"
	"ipamsim/model/route"
	"ipamsim/model/route/fib"
)

// blockX is the block of node a in cmd/calico/lab; b has the borrowed 10.64.75.0 (bw) and pods of
// its own; c and the others are bystanders.
const blockX = "10.64.75.0/26"

func ip(s string) netip.Addr     { return netip.MustParseAddr(s) }
func cidr(s string) netip.Prefix { return netip.MustParsePrefix(s) }

func node(name, addr string) route.Node {
	return route.Node{Name: name, Addr: cidr(addr), Up: true, BIRD: true, Felix: true}
}

func pod(node, addr string) route.Local {
	return route.Local{Node: node, Addr: ip(addr), Dev: "cali" + node + strings.ReplaceAll(addr, ".", "")}
}

func affinity(node, block, state string) model.Affinity {
	return model.Affinity{Node: node, Block: cidr(block), State: state}
}

func labFacts() route.Facts {
	return route.Facts{
		Nodes: []route.Node{node("a", "10.64.0.11/24"), node("b", "10.64.0.12/24"), node("c", "10.64.0.13/24")},
		Local: []route.Local{pod("a", "10.64.75.5"), pod("b", "10.64.75.0"), pod("b", "10.64.76.5"), pod("c", "10.64.77.5")},
		Affinities: []model.Affinity{
			affinity("a", blockX, model.Confirmed),
			affinity("b", "10.64.76.0/26", model.Confirmed),
			affinity("c", "10.64.77.0/26", model.Confirmed),
		},
		Pools: []model.IPPool{{Name: "pool", Prefix: cidr("10.64.72.0/21"), BlockBits: 26}},
	}
}

// withD adds the node that still has an affinity for X.
func withD(f route.Facts, addr, state string) route.Facts {
	f.Nodes = append(f.Nodes, node("d", addr))
	f.Local = append(f.Local, pod("d", "10.64.78.5"))
	f.Affinities = append(f.Affinities, affinity("d", blockX, state), affinity("d", "10.64.78.0/26", model.Confirmed))
	return f
}

// twoRacks puts b, and a bystander e, behind a router of their own.
func twoRacks(f route.Facts) route.Facts {
	f.Nodes[1].Addr = cidr("10.64.1.12/24")
	f.Nodes = append(f.Nodes, node("e", "10.64.1.15/24"))
	f.Local = append(f.Local, pod("e", "10.64.78.5"))
	f.Affinities = append(f.Affinities, affinity("e", "10.64.78.0/26", model.Confirmed))
	return f
}

func tor(t route.TopOfRack) route.Fabric { return route.Fabric{Topology: route.ToR, TopOfRack: t} }

// home are the nodes and the pods of the questions below.
var home = map[string]struct{ node, addr string }{
	"a": {"a", "10.64.0.11"}, "b": {"b", "10.64.0.12"}, "c": {"c", "10.64.0.13"}, "e": {"e", "10.64.1.15"},
	"a1": {"a", "10.64.75.5"}, "bw": {"b", "10.64.75.0"}, "b1": {"b", "10.64.76.5"}, "c1": {"c", "10.64.77.5"},
	"d1": {"d", "10.64.78.5"}, "e1": {"e", "10.64.78.5"},
}

// ping answers as cmd/calico/lab does: ok; lost, unreachable or looping, and where; by
// flow. A loss of the answer is marked.
func ping(t *fib.Tables, from, to string) string {
	src, dst := home[from], home[to]
	there, back := t.RoundTrip(src.node, ip(src.addr), dst.node, ip(dst.addr))
	if all, some := fib.Arrives(there); !all {
		return verdict(there, some)
	}
	if all, some := fib.Arrives(back); !all {
		return "answer " + verdict(back, some)
	}
	return "ok"
}

func verdict(ways []fib.Way, some bool) string {
	i := slices.IndexFunc(ways, func(w fib.Way) bool { return w.End != fib.Delivered })
	if i < 0 {
		return "nowhere"
	}
	word := map[fib.End]string{fib.Blackholed: "lost", fib.Unreachable: "unreachable", fib.Looping: "loop", fib.Dead: "dead"}[ways[i].End]
	if some {
		word += " by flow"
	}
	return word + " at " + ways[i].At
}

// TestLab is the table of cmd/calico/lab, row by row: what real BIRD and a real kernel
// did with the configuration of Calico's own templates.
func TestLab(t *testing.T) {
	mesh := route.Fabric{NoDefaultRoute: []string{"*"}}
	noExport := func(f route.Facts) route.Facts { f.Pools[0].NoExport = true; return f }
	distinct := route.TopOfRack{DistinctAS: true}
	with := func(t route.TopOfRack, change func(*route.TopOfRack)) route.Fabric { change(&t); return tor(t) }
	for _, row := range []struct {
		name   string
		fabric route.Fabric
		facts  route.Facts
		want   string // "from→to verdict", by comma
	}{
		{"1 iBGP mesh", mesh, labFacts(), "a→bw ok, c→bw ok, bw→a1 ok, a1→bw ok, c1→bw ok"},
		{"1 A–B session down: blackholed at A only", route.Fabric{Down: []route.Session{{A: "a", B: "b"}}, NoDefaultRoute: []string{"*"}}, labFacts(),
			"a→bw lost at a, c→bw ok, bw→a1 unreachable at b"},
		{"2 route reflector = C", route.Fabric{Topology: route.Reflectors, Reflectors: []string{"c"}}, labFacts(), "a→bw ok, c→bw ok, bw→a1 ok"},
		{"3 route reflector = A", route.Fabric{Topology: route.Reflectors, Reflectors: []string{"a"}}, labFacts(), "a→bw ok, c→bw ok, bw→a1 ok"},
		{"3 A–B session down: blackholed everywhere off B",
			route.Fabric{Topology: route.Reflectors, Reflectors: []string{"a"}, Down: []route.Session{{A: "b", B: "a"}}, NoDefaultRoute: []string{"*"}}, labFacts(),
			"a→bw lost at a, c→bw lost at a"},
		{"3b A–B session down: a second reflector mends it",
			route.Fabric{Topology: route.Reflectors, Reflectors: []string{"a", "d"}, Down: []route.Session{{A: "b", B: "a"}}},
			without(withD(labFacts(), "10.64.0.14/24", model.Pending), blockX+" pending"), "a→bw ok, c→bw ok"},
		{"3c a reflector passes on to no client what came by its own cluster",
			route.Fabric{Topology: route.Reflectors, Reflectors: []string{"a", "d"}, Down: []route.Session{{A: "c", B: "a"}, {A: "b", B: "d"}}, NoDefaultRoute: []string{"*"}},
			without(withD(labFacts(), "10.64.0.14/24", model.Pending), blockX+" pending"), "c→b1 unreachable at c, a→b1 ok, d1→b1 ok"},
		{"4 one ToR, distinct AS, drops longer than /26", with(distinct, func(t *route.TopOfRack) { t.MaxLength = 26 }), labFacts(),
			"a→bw lost at a, c→bw lost at a, bw→a1 answer lost at a, bw→c1 answer lost at a, b→a1 ok, c→b1 ok"},
		{"4b no filter", tor(distinct), labFacts(), "a→bw ok, c→bw ok, bw→a1 ok"},
		{"4c two racks, filter only between ToRs", with(distinct, func(t *route.TopOfRack) { t.MaxLength, t.MaxLengthBetween = 26, true }), twoRacks(labFacts()),
			"a→bw lost at a, c→bw lost at a, e→bw ok, e→a1 ok"},
		{"4m plus mesh", with(route.TopOfRack{Mesh: true}, func(t *route.TopOfRack) { t.MaxLength = 26 }), labFacts(), "a→bw ok, c→bw ok, bw→a1 ok"},
		{"5 one ToR, same AS (Wikimedia)", tor(route.TopOfRack{}), labFacts(), "a→bw lost at a, c→bw ok, bw→a1 answer lost at a, c→a1 ok"},
		{"5 C without default route", route.Fabric{Topology: route.ToR, NoDefaultRoute: []string{"c"}}, labFacts(), "a→bw lost at a, c→bw unreachable at c"},
		{"5b allowed local AS", with(route.TopOfRack{}, func(t *route.TopOfRack) { t.AllowLocalAS = 1 }), labFacts(), "a→bw ok, c→bw ok, bw→a1 ok"},
		{"5c as-override", with(route.TopOfRack{}, func(t *route.TopOfRack) { t.ASOverride = true }), labFacts(), "a→bw ok, c→bw ok, bw→a1 ok"},
		{"5d two racks, same AS, ToRs unfiltered", tor(route.TopOfRack{}), twoRacks(labFacts()), "a→bw lost at a, c→bw ok, e→bw ok"},
		{"5e mesh", with(route.TopOfRack{}, func(t *route.TopOfRack) { t.Mesh = true }), labFacts(), "a→bw ok, c→bw ok, bw→a1 ok"},
		{"5g distinct AS, ToR exports only a default", with(distinct, func(t *route.TopOfRack) { t.DefaultOnly = true }), labFacts(),
			"a→bw lost at a, c→bw ok, bw→a1 answer lost at a"},
		{"6 disableBGPExport", mesh, noExport(labFacts()), "a→bw lost at a, c→bw unreachable at c, bw→a1 unreachable at b, c→b1 unreachable at c"},
		{"6b disableBGPExport behind a ToR", tor(route.TopOfRack{}), noExport(labFacts()), "a→bw lost at a, c→bw unreachable at tor1"},
		{"7 D pendingDeletion", mesh, withD(labFacts(), "10.64.0.14/24", model.PendingDeletion), "a→bw ok, c→bw ok, bw→a1 lost by flow at d, c→a1 lost by flow at d"},
		{"7b D with the lower address", mesh, withD(labFacts(), "10.64.0.10/24", model.PendingDeletion), "a→bw ok, c→bw ok, c→a1 lost by flow at d"},
		{"7c D confirmed as well", mesh, withD(labFacts(), "10.64.0.14/24", model.Confirmed), "a→bw ok, c→bw ok, c→a1 lost by flow at d"},
		{"7d behind a ToR", tor(distinct), withD(labFacts(), "10.64.0.10/24", model.PendingDeletion), "c→bw ok, bw→a1 lost at d, c→a1 lost at d"},
		{"8p pending", mesh, pendingX(labFacts()), "a→bw ok, c→bw ok, c→a1 ok"},
		{"9 owner gone from the cluster", mesh, ownerGone(labFacts()), "c→bw ok, bw→c1 ok"},
	} {
		t.Run(row.name, func(t *testing.T) {
			tables := route.Converge(row.fabric, row.facts)
			for _, q := range strings.Split(row.want, ", ") {
				pair, want, _ := strings.Cut(q, " ")
				from, to, _ := strings.Cut(pair, "→")
				if got := ping(tables, from, to); got != want {
					t.Errorf("%s: %s, cmd/calico/lab has %s\n%s", pair, got, want, dump(tables))
				}
			}
		})
	}
}

// without takes an affinity away that withD added and the row does not have.
func without(f route.Facts, blockState string) route.Facts {
	f.Affinities = slices.DeleteFunc(f.Affinities, func(a model.Affinity) bool { return a.Block.String()+" "+a.State == blockState })
	return f
}

func pendingX(f route.Facts) route.Facts {
	f.Affinities[0].State = model.Pending
	return f
}

func ownerGone(f route.Facts) route.Facts {
	f.Nodes, f.Local, f.Affinities = f.Nodes[1:], f.Local[1:], f.Affinities[1:]
	return f
}

func dump(t *fib.Tables) string {
	var b strings.Builder
	for _, n := range t.Names() {
		table, _ := t.Of(n)
		fmt.Fprintf(&b, "[%s]\n%s", n, table)
	}
	return b.String()
}

// In row 3 C's traffic takes a detour: A does not announce the borrowed address to C, because
// it lies in A's own block. So C sends to A, which has the more specific route.
func TestLabDetour(t *testing.T) {
	tables := route.Converge(route.Fabric{Topology: route.Reflectors, Reflectors: []string{"a"}}, labFacts())
	c, _ := tables.Of("c")
	if want := "10.64.75.0/26 via 10.64.0.11 dev eth0 proto bird\n"; !strings.Contains(c.String(), want) || strings.Contains(c.String(), "10.64.75.0 ") {
		t.Errorf("C's table:\n%swant %sand no host route", c, want)
	}
}

// Row 5e: with a mesh beside the router, every node announces every block to the router with
// itself as the next hop, because sessions with peers that are not nodes are multihop. The
// router shares the flows among all of them.
func TestLabMeshBesideRouter(t *testing.T) {
	tables := route.Converge(tor(route.TopOfRack{Mesh: true}), labFacts())
	tor1, _ := tables.Of("tor1")
	want := blockX + ` proto bird
	nexthop via 10.64.0.11 dev eth0 weight 1
	nexthop via 10.64.0.12 dev eth0 weight 1
	nexthop via 10.64.0.13 dev eth0 weight 1
`
	if !strings.Contains(tor1.String(), want) {
		t.Errorf("the router's table:\n%swant\n%s", tor1, want)
	}
}

// Row 7 in two subnets with tunnels between them: a next hop on the own subnet is nearer than
// one beyond, so no router shares flows. A stale affinity attracts all traffic of its own rack
// and none of the owner's rack.
func TestLabStaleAffinityInAnotherRack(t *testing.T) {
	f := withD(labFacts(), "10.64.1.14/24", model.PendingDeletion)
	f.Nodes[1].Addr = cidr("10.64.1.12/24")
	f.Pools[0].IPIP = "CrossSubnet"
	tables := route.Converge(route.Fabric{}, f)
	for pair, want := range map[string]string{"c→a1": "ok", "b1→a1": "lost at d", "d1→a1": "lost at d", "c→bw": "ok"} {
		from, to, _ := strings.Cut(pair, "→")
		if got := ping(tables, from, to); got != want {
			t.Errorf("%s: %s, want %s\n%s", pair, got, want, dump(tables))
		}
	}
}

// Row 8v: BIRD programs nothing of a VXLAN pool, not even the blackhole.
func TestLabVXLAN(t *testing.T) {
	f := labFacts()
	f.Pools[0].VXLAN = "Always"
	tables := route.Converge(route.Fabric{}, f)
	if s := dump(tables); strings.Contains(s, "bird") {
		t.Errorf("routes of BIRD in a VXLAN pool:\n%s", s)
	}
}
