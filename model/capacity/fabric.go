package capacity

import (
	"encoding/binary"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"

	"ipamsim/model"
	"ipamsim/model/route"
)

// fabric counts the lost pairs of a node and an address, as package route finds them
// after all daemons have settled, without computing the tables of all nodes.
//
// Whether a node reaches an address depends on the pod's node, the nodes with an
// affinity around the address, the owner of its block, the racks of these nodes, and
// the few nodes that the fabric names. For each such constellation fabric builds a
// plane of these nodes and a few bystanders of each rack: the one with the lowest
// address, which a router may prefer to all others, and two of the others, which may
// learn of each other from the router. All remaining nodes behave as the second
// bystander does. TestLostPairsAreThoseOfThePlane compares the result with the plane
// of the whole cluster.
type fabric struct {
	c     *Cluster
	named map[string]bool
	known map[string]verdict // by constellation
}

// verdict holds the nodes that cannot reach an address.
type verdict struct {
	relevant map[int]bool          // by index in the list of relevant nodes
	first    map[netip.Prefix]bool // the first bystander of a rack
	rest     map[netip.Prefix]bool // and all others
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

// nodeAddr is the own address of the n-th node that has joined, in IPv4 or IPv6: what its
// object says, or what a run gives it.
func nodeAddr(x *nodeState, n, family int) netip.Prefix {
	switch {
	case family == 0 && x.addr.IsValid():
		return x.addr
	case family == 0:
		return route.DefaultAddr(n)
	case x.addr6.IsValid():
		return x.addr6
	}
	return route.DefaultAddr6(n)
}

// lost returns the number of lost pairs in IPv4 and in IPv6.
func (f *fabric) lost(s *snapshot) (pairs [2]int) {
	i := slices.IndexFunc(s.networks, func(n model.Network) bool { return n.Blocks != nil })
	if i < 0 {
		return pairs
	}
	for of := range pairs {
		pairs[of] = f.lostOf(s, s.networks[i].Blocks.Pools, of)
	}
	return pairs
}

// lostOf are the lost pairs of one address family.
func (f *fabric) lostOf(s *snapshot, pools []model.IPPool, of int) (pairs int) {
	if !slices.ContainsFunc(s.live, func(h holding) bool { return model.Family(h.addr) == of && !h.device }) {
		return 0
	}
	v := f.stage(s, pools, of)
	type hold struct{ node, spot int32 }
	holds := map[hold]int{}
	for _, h := range s.live {
		if model.Family(h.addr) != of || h.device || !s.nodes[h.node].up {
			continue
		}
		if spot := v.spot(h.addr); spot >= 0 {
			holds[hold{int32(h.node), spot}]++
		} else {
			pairs += v.lost(group{h.node, netip.PrefixFrom(h.addr, h.addr.BitLen())})
		}
	}
	for h, n := range holds {
		pairs += n * v.lost(group{int(h.node), v.spots[h.spot]})
	}
	return pairs
}

// group are the addresses that a node has of a block.
type group struct {
	holder int
	block  netip.Prefix // the smallest block that exists or that a node has an affinity to
}

// stage is a fabric at one instant.
type stage struct {
	*fabric
	s          *snapshot
	family     int
	addrs      []netip.Prefix // of the nodes
	ids        []netip.Addr   // what their routers go by: the IPv4 addresses
	pools      []model.IPPool
	sizes      []int            // lengths of blocks and affinities, the longest first
	spots      []netip.Prefix   // these
	at         []map[bits]int32 // by size and first bits, into spots
	affine     map[netip.Prefix][]int
	owners     map[netip.Prefix]string
	always     []int                  // nodes that are always part of the plane
	bystanders map[netip.Prefix][]int // by rack, in the order of their routers' ids
	racks      []netip.Prefix         // of bystanders, sorted
	generic    map[netip.Prefix]int   // how many nodes of each rack are up and not among always
}

func (f *fabric) stage(s *snapshot, pools []model.IPPool, of int) *stage {
	v := &stage{fabric: f, s: s, family: of, pools: pools, affine: map[netip.Prefix][]int{}, owners: map[netip.Prefix]string{},
		bystanders: map[netip.Prefix][]int{}, generic: map[netip.Prefix]int{}}
	for i := range s.nodes {
		n, addr := &s.nodes[i], nodeAddr(&s.nodes[i], i, of)
		v.addrs, v.ids = append(v.addrs, addr), append(v.ids, nodeAddr(n, i, 0).Addr())
		rack := addr.Masked()
		switch {
		case !n.up && !n.registered:
		case f.named[n.name] || addr.Addr() == rack.Addr().Next():
			v.always = append(v.always, i)
		case n.up:
			v.generic[rack]++
			v.bystanders[rack] = append(v.bystanders[rack], i)
		}
	}
	for rack, all := range v.bystanders {
		v.bystanders[rack] = v.byAddr(all)
	}
	v.racks = slices.SortedFunc(maps.Keys(v.generic), netip.Prefix.Compare)
	size := func(p netip.Prefix) {
		if !slices.Contains(v.sizes, p.Bits()) {
			v.sizes = append(v.sizes, p.Bits())
		}
	}
	for _, a := range s.Affinities {
		if at, ok := s.at[a.Node]; ok && a.State != model.Pending && s.nodes[at].up && model.Family(a.Block.Addr()) == of {
			size(a.Block)
			v.affine[a.Block] = append(v.affine[a.Block], at)
		}
	}
	for i := range s.Blocks {
		if p := s.Blocks[i].Prefix; model.Family(p.Addr()) == of {
			size(p)
			v.owners[p] = s.Blocks[i].Owner
		}
	}
	slices.Sort(v.sizes)
	slices.Reverse(v.sizes)
	v.index()
	return v
}

// spot is the smallest block or affinity around an address, -1 if there is none.
func (v *stage) spot(a netip.Addr) int32 {
	all := bitsOf(a)
	for i, size := range v.sizes {
		if spot, ok := v.at[i][all.shift(a.BitLen()-size)]; ok {
			return spot
		}
	}
	return -1
}

// bits are the first ones of an address.
type bits struct{ high, low uint64 }

func bitsOf(a netip.Addr) bits {
	raw := a.As16()
	b := bits{binary.BigEndian.Uint64(raw[:8]), binary.BigEndian.Uint64(raw[8:])}
	if a.Is4() {
		b = bits{low: b.low & (1<<32 - 1)}
	}
	return b
}

// shift drops the last n.
func (b bits) shift(n int) bits {
	if n >= 64 {
		return bits{low: b.high >> (n - 64)}
	}
	return bits{b.high >> n, b.high<<(64-n) | b.low>>n}
}

// index finds the blocks and affinities by their first bits.
func (v *stage) index() {
	v.at = make([]map[bits]int32, len(v.sizes))
	for i := range v.at {
		v.at[i] = map[bits]int32{}
	}
	note := func(p netip.Prefix) {
		in, key := v.at[slices.Index(v.sizes, p.Bits())], bitsOf(p.Addr()).shift(p.Addr().BitLen()-p.Bits())
		if _, known := in[key]; !known {
			in[key] = int32(len(v.spots))
			v.spots = append(v.spots, p)
		}
	}
	for p := range v.owners {
		note(p)
	}
	for p := range v.affine {
		note(p)
	}
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

// lost returns how many nodes cannot reach an address of the group.
func (v *stage) lost(g group) (n int) {
	around := v.around(g)
	relevant := v.relevantNodes(g, around)
	stand := v.stand(relevant)
	key := v.constellation(g, around, relevant, stand)
	known, ok := v.known[key]
	if !ok {
		known = v.judge(g, around, relevant, stand)
		v.known[key] = known
	}
	n = len(known.relevant) + len(known.first)
	for rack := range known.rest {
		n += v.generic[rack] - v.generics(relevant, rack) - 1
	}
	return n
}

// generics counts the relevant nodes of a rack that are up and are not always relevant.
func (v *stage) generics(relevant []int, rack netip.Prefix) (n int) {
	for _, i := range relevant {
		if v.s.nodes[i].up && v.addrs[i].Masked() == rack && !slices.Contains(v.always, i) {
			n++
		}
	}
	return n
}

// relevantNodes returns the nodes that the verdict depends on, in the order of their router
// IDs.
func (v *stage) relevantNodes(g group, around []netip.Prefix) []int {
	relevant := append(slices.Clone(v.always), g.holder)
	for _, p := range around {
		relevant = append(relevant, v.affine[p]...)
		if at, ok := v.s.at[v.owners[p]]; ok && (v.s.nodes[at].up || v.s.nodes[at].registered) {
			relevant = append(relevant, at)
		}
	}
	return v.byAddr(relevant)
}

// stand returns the bystanders: per rack at most three nodes that are up and not relevant, in
// the order of racks and addresses.
func (v *stage) stand(relevant []int) (out []int) {
	const each = 3
	for _, rack := range v.racks {
		for n, all := 0, v.bystanders[rack]; n < each && len(all) > 0; all = all[1:] {
			if !slices.Contains(relevant, all[0]) {
				out = append(out, all[0])
				n++
			}
		}
	}
	return out
}

func (v *stage) byAddr(lists ...[]int) []int {
	all := slices.Concat(lists...)
	slices.SortFunc(all, func(a, b int) int { return v.ids[a].Compare(v.ids[b]) })
	return slices.Compact(all)
}

// constellation is all that the verdict depends on, as text.
func (v *stage) constellation(g group, around []netip.Prefix, relevant, stand []int) string {
	var b strings.Builder
	pool := slices.IndexFunc(v.pools, func(p model.IPPool) bool { return p.Prefix.Contains(g.block.Addr()) })
	fmt.Fprintf(&b, "family %d, pool %d", v.family, pool)
	if pool >= 0 {
		p := &v.pools[pool]
		fmt.Fprint(&b, p.NoExport, p.IPIP, p.VXLAN)
	}
	for _, p := range around {
		fmt.Fprintf(&b, "/%d", p.Bits())
	}
	for _, i := range v.byAddr(relevant, stand) {
		n := &v.s.nodes[i]
		fmt.Fprint(&b, ";", v.addrs[i].Masked(), n.up, n.tunnel[v.family].IsValid(), i == g.holder)
		if slices.Contains(v.always, i) {
			b.WriteString(n.name)
		}
		if slices.Contains(stand, i) {
			b.WriteString("bystander")
		}
		for _, p := range around {
			fmt.Fprint(&b, ",", v.owners[p] == n.name, slices.Contains(v.affine[p], i))
		}
	}
	return b.String()
}

// judge builds the plane of the relevant nodes and the bystanders and returns which nodes lose
// the address.
func (v *stage) judge(g group, around []netip.Prefix, relevant, stand []int) verdict {
	addr := g.block.Addr()
	if g.block.Bits() < addr.BitLen() {
		addr = addr.Next() // any: none is special to a route
	}
	out := verdict{map[int]bool{}, map[netip.Prefix]bool{}, map[netip.Prefix]bool{}}
	for _, l := range losses(v.c.Fabric, v.facts(g, addr, around, slices.Concat(relevant, stand))) {
		i := v.s.at[l.From]
		rack := v.addrs[i].Masked()
		switch at := slices.Index(stand, i); {
		case at < 0:
			out.relevant[slices.Index(relevant, i)] = true
		case at == 0 || v.addrs[stand[at-1]].Masked() != rack:
			out.first[rack] = true
		default:
			out.rest[rack] = true
		}
	}
	return out
}

// losses are the losses after convergence.
func losses(fabric route.Fabric, f route.Facts) []route.Loss {
	p := route.New(fabric)
	p.Observe(0, f)
	route.Settle(p)
	return p.Losses()
}

// facts are what these nodes know of one address.
func (v *stage) facts(g group, addr netip.Addr, around []netip.Prefix, nodes []int) route.Facts {
	f := route.Facts{}
	for _, p := range v.pools {
		if model.Family(p.Prefix.Addr()) == v.family {
			f.Pools = append(f.Pools, p)
		}
	}
	for _, i := range nodes {
		f.Nodes = append(f.Nodes, v.s.nodes[i].route(i, v.family))
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

// route is the n-th node in one family.
func (x *nodeState) route(n, family int) route.Node {
	return route.Node{
		Name: x.name, Addr: nodeAddr(x, n, family), ID: nodeAddr(x, n, 0).Addr(),
		Up: x.up, BIRD: x.up, Felix: x.up, Tunnel: x.tunnel[family],
	}
}
