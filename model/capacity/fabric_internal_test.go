package capacity

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"ipamsim/model"
	"ipamsim/model/route"
)

// The number of lost pairs equals that of the routing tables of the whole cluster, for every
// topology and every assignment of addresses.
func TestLostPairsAreThoseOfThePlane(t *testing.T) {
	lossy := 0
	rapid.Check(t, func(t *rapid.T) {
		s, f := drawScene(t), drawFabric(t)
		var names []string
		for _, n := range s.nodes {
			names = append(names, n.name)
		}
		if field, problem := f.Check(names); problem != "" {
			t.Skip(field, problem)
		}
		six := rapid.Bool().Draw(t, "IPv6")
		if six {
			s.toSix()
		}
		var x fabric
		x.init(&Cluster{Fabric: f})
		got := sum(x.lost(s))
		want := wholePlane(f, s)
		if got != len(want) {
			t.Fatalf("%d pairs, and the plane has %d: %v", got, len(want), want)
		}
		// Cached results of one instant are valid for others.
		for range 3 {
			s := drawScene(t)
			if six {
				s.toSix()
			}
			if got, want := sum(x.lost(s)), len(wholePlane(f, s)); got != want {
				t.Fatalf("%d pairs later, and the plane has %d", got, want)
			}
		}
		if got > 0 {
			lossy++
		}
	})
	if lossy == 0 {
		t.Error("nothing was ever lost")
	}
}

func sum(pairs [2]int) int { return pairs[0] + pairs[1] }

// toSix moves the scene's pools, blocks and nodes to IPv6, each as far from the others as
// it was; the nodes' routers go by their IPv4 addresses.
func (s *snapshot) toSix() {
	addr := func(a netip.Addr) netip.Addr {
		raw, out := a.As4(), netip.MustParseAddr("fd00::").As16()
		copy(out[12:], raw[:])
		return netip.AddrFrom16(out)
	}
	prefix := func(p *netip.Prefix) { *p = netip.PrefixFrom(addr(p.Addr()), p.Bits()+96) }
	for i := range s.networks[0].Blocks.Pools {
		p := &s.networks[0].Blocks.Pools[i]
		prefix(&p.Prefix)
		p.BlockBits += 96
	}
	for i := range s.nodes {
		n := &s.nodes[i]
		if n.tunnel[0].IsValid() {
			n.tunnel = [2]netip.Addr{{}, addr(n.tunnel[0])}
		}
		if n.addr.IsValid() {
			n.addr6 = n.addr
			prefix(&n.addr6)
		}
	}
	for i := range s.Blocks {
		prefix(&s.Blocks[i].Prefix)
	}
	for i := range s.Affinities {
		prefix(&s.Affinities[i].Block)
	}
	for i := range s.live {
		s.live[i].addr = addr(s.live[i].addr)
	}
}

func wholePlane(fabric route.Fabric, s *snapshot) []route.Loss {
	pools := s.networks[0].Blocks.Pools
	f, of := route.Facts{Pools: pools, Affinities: s.Affinities}, model.Family(pools[0].Prefix.Addr())
	for i, n := range s.nodes {
		if n.up || n.registered {
			f.Nodes = append(f.Nodes, n.route(i, of))
		}
	}
	slices.SortFunc(f.Nodes, func(a, b route.Node) int { return strings.Compare(a.Name, b.Name) })
	for _, b := range s.Blocks {
		x := route.Block{Prefix: b.Prefix, Node: b.Owner}
		for _, h := range s.live {
			smallest := !slices.ContainsFunc(s.Blocks, func(o model.BlockUse) bool { return o.Prefix.Bits() > b.Prefix.Bits() && o.Prefix.Contains(h.addr) })
			if name := s.nodes[h.node].name; b.Prefix.Contains(h.addr) && name != b.Owner && smallest {
				x.Borrowed = append(x.Borrowed, route.Borrowed{Addr: h.addr, Node: name})
			}
		}
		f.Blocks = append(f.Blocks, x)
	}
	for i, h := range s.live {
		if h.device {
			continue
		}
		f.Local = append(f.Local, route.Local{Node: s.nodes[h.node].name, Addr: h.addr, Dev: fmt.Sprint("cali", i)})
	}
	return losses(fabric, f)
}

func drawFabric(t *rapid.T) route.Fabric {
	some := func(what string) []string {
		return rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"n0", "n1", "n2"}), 0, 2, rapid.ID[string]).Draw(t, what)
	}
	f := route.Fabric{Topology: rapid.SampledFrom([]string{route.Mesh, route.ToR, route.Reflectors}).Draw(t, "topology")}
	switch f.Topology {
	case route.Reflectors:
		f.Reflectors = some("reflectors")
	case route.ToR:
		f.TopOfRack = route.TopOfRack{
			DistinctAS: rapid.Bool().Draw(t, "distinct"), MaxLength: rapid.SampledFrom([]int{0, 30}).Draw(t, "length"),
			DefaultOnly: rapid.Bool().Draw(t, "default only"), AllowLocalAS: rapid.SampledFrom([]int{0, 1}).Draw(t, "local AS"),
			ASOverride: rapid.Bool().Draw(t, "override"),
		}
		f.TopOfRack.MaxLengthBetween = f.TopOfRack.MaxLength > 0 && rapid.Bool().Draw(t, "between")
		f.TopOfRack.Mesh = !f.TopOfRack.DistinctAS && rapid.Bool().Draw(t, "mesh")
	}
	if rapid.IntRange(0, 3).Draw(t, "no default") == 0 {
		f.NoDefaultRoute = rapid.SampledFrom([][]string{{"*"}, {"n0"}, {"n1", "n2"}}).Draw(t, "without default route")
	}
	if rapid.IntRange(0, 3).Draw(t, "down") == 0 {
		f.Down = []route.Session{{A: "n0", B: rapid.SampledFrom([]string{"", "n1"}).Draw(t, "peer")}}
	}
	return f
}

// drawScene returns a cluster of up to three racks, with blocks of two sizes in two pools.
// Some blocks are borrowed from, some have no owner, some have a second affinity.
func drawScene(t *rapid.T) *snapshot {
	s := &snapshot{}
	n := rapid.IntRange(1, 10).Draw(t, "nodes")
	for i := range n {
		x := nodeState{name: fmt.Sprint("n", i), up: rapid.IntRange(0, 4).Draw(t, "off") > 0, registered: rapid.IntRange(0, 5).Draw(t, "unregistered") > 0}
		if r := rapid.IntRange(0, 2).Draw(t, "rack"); r > 0 {
			host := 11 + i*7%10
			if i == 3 && rapid.Bool().Draw(t, "instead of a router") {
				host = 1
			}
			x.addr = netip.MustParsePrefix(fmt.Sprintf("10.64.%d.%d/24", r, host))
		}
		s.sees(x)
	}
	modes := rapid.SampledFrom([]string{"", "Always", "CrossSubnet"})
	p := model.IPPool{Name: "p", Prefix: netip.MustParsePrefix("10.0.0.0/24"), BlockBits: 30, NoExport: rapid.IntRange(0, 4).Draw(t, "unexported") == 0}
	if rapid.Bool().Draw(t, "VXLAN") {
		p.VXLAN = modes.Draw(t, "mode")
	} else {
		p.IPIP = modes.Draw(t, "mode")
	}
	q := model.IPPool{Name: "q", Prefix: netip.MustParsePrefix("10.0.1.0/24"), BlockBits: 30}
	s.networks = []model.Network{{Blocks: &model.BlockPolicy{Pools: []model.IPPool{p, q}, V4: true}}}
	if p.VXLAN != "" {
		for i := range s.nodes {
			if rapid.IntRange(0, 3).Draw(t, "device") > 0 {
				s.device(i, netip.MustParseAddr(fmt.Sprintf("10.0.0.%d", 200+i)))
			}
		}
	}
	for _, text := range []string{"10.0.0.0/30", "10.0.0.4/30", "10.0.0.8/30", "10.0.0.0/29", "10.0.1.0/30"} {
		if rapid.Bool().Draw(t, text) {
			s.drawBlock(t, netip.MustParsePrefix(text))
		}
	}
	return s
}

func (s *snapshot) drawBlock(t *rapid.T, p netip.Prefix) {
	node := rapid.IntRange(0, len(s.nodes)-1)
	b := model.BlockUse{Prefix: p}
	switch owner := s.nodes[node.Draw(t, "owner")].name; rapid.IntRange(0, 4).Draw(t, "affinity") {
	case 0: // no owner
	case 1:
		b.Owner = owner // the owner has lost the affinity
	case 2:
		b.Owner = owner
		s.Affinities = append(s.Affinities, model.Affinity{Block: p, Node: owner, State: model.Confirmed})
		if x := s.nodes[node.Draw(t, "second")].name; x != owner {
			s.Affinities = append(s.Affinities, model.Affinity{Block: p, Node: x, State: model.Confirmed})
		}
	default:
		b.Owner = owner
		s.Affinities = append(s.Affinities, model.Affinity{Block: p, Node: owner, State: model.Confirmed})
	}
	s.Blocks = append(s.Blocks, b)
	a := p.Addr()
	for range rapid.IntRange(0, 3).Draw(t, "pods") {
		h := holding{node: node.Draw(t, "holder"), addr: a}
		if taken := slices.ContainsFunc(s.live, func(o holding) bool { return o.addr == a }); !taken && s.nodes[h.node].up {
			s.live = append(s.live, h)
		}
		a = a.Next()
	}
}
