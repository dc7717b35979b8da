package capacity

import (
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"

	"ipamsim/model"
	"ipamsim/model/route"
)

// fabric counts the pairs of a node and an address that are lost, as package route
// says once all daemons had their time, without computing the tables of all nodes.
//
// Whether a node reaches an address depends on who has it, who has an affinity
// around it and whose block it is in, on which rack each of these is in, and on the
// few nodes that the fabric names. For each such constellation a plane is built of
// these nodes and one bystander of each rack; all others of a rack fare as the
// bystander does. That it comes to the same as the plane of the whole cluster is a
// test.
type fabric struct {
	c     *Cluster
	named map[string]bool
	known map[string]verdict // by constellation
}

// verdict is who is lost to an address.
type verdict struct {
	cast  map[int]bool // by place in the cast
	racks map[netip.Prefix]bool
}

func (f *fabric) init(c *Cluster) {
	f.c, f.named, f.known = c, map[string]bool{}, map[string]verdict{}
	for _, n := range slices.Concat(c.Fabric.Reflectors, c.Fabric.NoDefaultRoute) {
		f.named[n] = true
	}
	for _, s := range c.Fabric.Down {
		f.named[s.A], f.named[s.B] = true, true
	}
}

// nodeAddr is the own address of the n-th node that has joined, as a real cluster
// gives it to one that says nothing.
//
// Source: sim/cluster/routing.go, nodeAddr.
func nodeAddr(said netip.Prefix, n int) netip.Prefix {
	if said.IsValid() {
		return said
	}
	n += 10
	return netip.PrefixFrom(netip.AddrFrom4([4]byte{198, 18, byte(n >> 8), byte(n)}), 16)
}

// lost is how many pairs there are.
func (f *fabric) lost(s *scene) (pairs int) {
	i := slices.IndexFunc(s.networks, func(n model.Network) bool { return n.Blocks != nil })
	if i < 0 {
		return 0
	}
	v := f.stage(s, s.networks[i].Blocks.Pools)
	groups := map[group]int{}
	for _, h := range s.live {
		if h.addr.Is4() && !h.device && s.nodes[h.node].up {
			groups[v.group(h)]++
		}
	}
	for g, n := range groups {
		pairs += n * v.lost(g)
	}
	return pairs
}

// group are the addresses that a node has of a block, of whatever sizes there are.
type group struct {
	holder int
	block  netip.Prefix // the smallest that exists or that somebody has an affinity to
}

// stage is a fabric at one instant.
type stage struct {
	*fabric
	s          *scene
	pools      []model.IPPool
	sizes      []int // lengths of blocks and affinities, the longest first
	affine     map[netip.Prefix][]int
	owners     map[netip.Prefix]string
	always     []int // nodes that take part whatever it is about
	bystanders map[netip.Prefix][]int
	racks      []netip.Prefix       // of bystanders, sorted
	generic    map[netip.Prefix]int // how many nodes of each rack are up and not among always
}

func (f *fabric) stage(s *scene, pools []model.IPPool) *stage {
	v := &stage{fabric: f, s: s, pools: pools, affine: map[netip.Prefix][]int{}, owners: map[netip.Prefix]string{},
		bystanders: map[netip.Prefix][]int{}, generic: map[netip.Prefix]int{}}
	for i := range s.nodes {
		n := &s.nodes[i]
		n.addr = nodeAddr(n.addr, i)
		rack := n.addr.Masked()
		switch {
		case !n.up && !n.registered:
		case f.named[n.name] || n.addr.Addr() == rack.Addr().Next():
			v.always = append(v.always, i)
		case n.up:
			v.generic[rack]++
			v.bystanders[rack] = append(v.bystanders[rack], i)
		}
	}
	v.racks = slices.SortedFunc(maps.Keys(v.generic), netip.Prefix.Compare)
	size := func(p netip.Prefix) {
		if !slices.Contains(v.sizes, p.Bits()) {
			v.sizes = append(v.sizes, p.Bits())
		}
	}
	for _, a := range s.affinities {
		if at, ok := s.at[a.Node]; ok && a.State != model.Pending && s.nodes[at].up && a.Block.Addr().Is4() {
			size(a.Block)
			v.affine[a.Block] = append(v.affine[a.Block], at)
		}
	}
	for i := range s.blocks {
		if p := s.blocks[i].Prefix; p.Addr().Is4() {
			size(p)
			v.owners[p] = s.blocks[i].Owner
		}
	}
	slices.Sort(v.sizes)
	slices.Reverse(v.sizes)
	return v
}

func (v *stage) group(h holding) group {
	for _, bits := range v.sizes {
		p := netip.PrefixFrom(h.addr, bits).Masked()
		if _, exists := v.owners[p]; exists || v.affine[p] != nil {
			return group{h.node, p}
		}
	}
	return group{h.node, netip.PrefixFrom(h.addr, h.addr.BitLen())}
}

// around are the blocks and affinities around a group's addresses.
func (v *stage) around(g group) (out []netip.Prefix) {
	for _, bits := range v.sizes {
		if bits > g.block.Bits() {
			continue
		}
		p := netip.PrefixFrom(g.block.Addr(), bits).Masked()
		if _, exists := v.owners[p]; exists || v.affine[p] != nil {
			out = append(out, p)
		}
	}
	return out
}

// lost is how many nodes cannot reach an address of the group.
func (v *stage) lost(g group) (n int) {
	around := v.around(g)
	cast := v.cast(g, around)
	key := v.constellation(g, around, cast)
	known, ok := v.known[key]
	if !ok {
		known = v.judge(g, around, cast)
		v.known[key] = known
	}
	n = len(known.cast)
	for rack := range known.racks {
		n += v.generic[rack] - v.generics(cast, rack)
	}
	return n
}

// generics is how many nodes of a rack in the cast are up and take part for a
// reason of their own.
func (v *stage) generics(cast []int, rack netip.Prefix) (n int) {
	for _, i := range cast {
		if x := &v.s.nodes[i]; x.up && x.addr.Masked() == rack && !slices.Contains(v.always, i) {
			n++
		}
	}
	return n
}

// cast are the nodes on which it depends, in the order of their addresses.
func (v *stage) cast(g group, around []netip.Prefix) []int {
	cast := append(slices.Clone(v.always), g.holder)
	for _, p := range around {
		cast = append(cast, v.affine[p]...)
		if at, ok := v.s.at[v.owners[p]]; ok && (v.s.nodes[at].up || v.s.nodes[at].registered) {
			cast = append(cast, at)
		}
	}
	slices.SortFunc(cast, func(a, b int) int { return v.s.nodes[a].addr.Addr().Compare(v.s.nodes[b].addr.Addr()) })
	return slices.Compact(cast)
}

// constellation is all that the verdict depends on, as text.
func (v *stage) constellation(g group, around []netip.Prefix, cast []int) string {
	var b strings.Builder
	pool := slices.IndexFunc(v.pools, func(p model.IPPool) bool { return p.Prefix.Contains(g.block.Addr()) })
	fmt.Fprintf(&b, "pool %d", pool)
	if pool >= 0 {
		p := &v.pools[pool]
		fmt.Fprint(&b, p.NoExport, p.IPIP, p.VXLAN)
	}
	for _, p := range around {
		fmt.Fprintf(&b, "/%d", p.Bits())
	}
	for _, rack := range v.racks {
		fmt.Fprint(&b, v.generic[rack] > v.generics(cast, rack)) // a bystander stands there
	}
	for _, i := range cast {
		n := &v.s.nodes[i]
		fmt.Fprint(&b, ";", n.addr.Masked(), n.up, n.tunnel.IsValid(), i == g.holder)
		if f := v.fabric; f.named[n.name] || slices.Contains(v.always, i) {
			b.WriteString(n.name)
		}
		for _, p := range around {
			fmt.Fprint(&b, ",", v.owners[p] == n.name, slices.Contains(v.affine[p], i))
		}
	}
	return b.String()
}

// judge builds the plane of the cast and bystanders, and sees who is lost.
func (v *stage) judge(g group, around []netip.Prefix, cast []int) verdict {
	nodes, stands := slices.Clone(cast), map[string]netip.Prefix{}
	for rack, all := range v.bystanders {
		if i := slices.IndexFunc(all, func(i int) bool { return !slices.Contains(cast, i) }); i >= 0 {
			nodes = append(nodes, all[i])
			stands[v.s.nodes[all[i]].name] = rack
		}
	}
	addr := g.block.Addr()
	if g.block.Bits() < addr.BitLen() {
		addr = addr.Next() // any: none is special to a route
	}
	out := verdict{map[int]bool{}, map[netip.Prefix]bool{}}
	for _, l := range losses(v.c.Fabric, v.facts(g, addr, around, nodes)) {
		if rack, ok := stands[l.From]; ok {
			out.racks[rack] = true
		} else {
			out.cast[slices.Index(cast, v.s.at[l.From])] = true
		}
	}
	return out
}

// losses are those that remain.
func losses(fabric route.Fabric, f route.Facts) []route.Loss {
	p := route.New(fabric)
	p.Observe(0, f)
	for at, ok := p.Next(); ok; at, ok = p.Next() {
		p.Advance(at)
	}
	return p.Losses()
}

// facts are what these nodes know of one address.
func (v *stage) facts(g group, addr netip.Addr, around []netip.Prefix, nodes []int) route.Facts {
	f := route.Facts{Pools: v.pools}
	for _, i := range nodes {
		f.Nodes = append(f.Nodes, v.s.nodes[i].route())
	}
	slices.SortFunc(f.Nodes, func(a, b route.Node) int { return strings.Compare(a.Name, b.Name) })
	f.Local = []route.Local{{Node: v.s.nodes[g.holder].name, Addr: addr, Dev: "cali1"}}
	for _, p := range around {
		for _, i := range v.affine[p] {
			f.Affinities = append(f.Affinities, model.Affinity{Block: p, Node: v.s.nodes[i].name, State: model.Confirmed})
		}
		if owner, exists := v.owners[p]; exists {
			b := route.Block{Prefix: p, Node: owner}
			if owner != v.s.nodes[g.holder].name {
				b.Borrowed = []route.Borrowed{{Addr: addr, Node: v.s.nodes[g.holder].name}}
			}
			f.Blocks = append(f.Blocks, b)
		}
	}
	return f
}

func (n *sight) route() route.Node {
	return route.Node{Name: n.name, Addr: n.addr, Up: n.up, BIRD: n.up, Felix: n.up, Tunnel: n.tunnel}
}
