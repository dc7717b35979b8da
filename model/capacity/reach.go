package capacity

import (
	"cmp"
	"net/netip"
	"slices"

	"ipamsim/model"
)

// family measures the remaining addresses of one address family of a network with blocks, and the
// nodes that can get them: Size, Stranded, Starved.
//
// A node can get the free addresses of its own blocks; then, unless blocks are not allocated
// automatically, and up to its limit, the addresses of blocks that do not exist yet (if it may not
// claim all of them, the average of so many blocks); then, if it could have claimed more and
// affinity is not strict, the free addresses of other nodes' blocks. The result equals model.Free,
// except for the latter's lower bound if addresses are reserved.
func (s *snapshot) family(n *model.Network, v4 bool, out *Sample) {
	pools := s.stock(n, v4)
	all := 0
	for i := range pools {
		if out.Size += pools[i].size; !v4 {
			out.Six.Size += pools[i].size
		}
		all += pools[i].free + pools[i].open
	}
	nodes := make([]hand, len(s.nodes))
	for i := range s.Affinities {
		a := &s.Affinities[i]
		at, ok := s.at[a.Node]
		in := slices.IndexFunc(pools, func(p stock) bool { return p.Prefix.Contains(a.Block.Addr()) })
		if ok && a.Block.Addr().Is4() == v4 && in >= 0 && pools[in].serves(a.Node) {
			nodes[at].blocks++
		}
	}
	for i := range s.Blocks {
		b := &s.Blocks[i]
		at, ok := s.at[b.Owner]
		in := slices.IndexFunc(pools, func(p stock) bool { return p.Prefix.Contains(b.Prefix.Addr()) })
		if ok && b.Affine && in >= 0 && pools[in].serves(b.Owner) {
			nodes[at].own += b.Free
			if b.Prefix.Bits() != pools[in].BlockBits {
				nodes[at].odd += b.Free
			}
		}
	}
	policy, limit := n.Blocks, cmp.Or(n.Blocks.MaxBlocks, model.MaxBlocksDefault)
	for i := range s.nodes {
		x := &s.nodes[i]
		if !x.up {
			continue
		}
		h := &nodes[i]
		served, open, room, others := false, 0, 0, 0
		for j := range pools {
			if p := &pools[j]; p.serves(x.name) {
				served = true
				open, room, others = open+p.positions, room+p.open, others+p.fit
			}
		}
		left := 0
		if policy.AutoAllocate {
			left = max(limit-h.blocks, 0)
		}
		reach := h.own * parts
		switch {
		case left > open && !policy.Strict:
			reach = (others + room + h.odd) * parts
		case left >= open:
			reach += room * parts
		default:
			reach += int(float64(room) * float64(left) / float64(open) * parts)
		}
		s.stranded += all*parts - reach
		if served && h.blocks == 0 && open == 0 && x.registered {
			out.Starved++
		}
	}
}

// parts of an address are what stranded ones are counted in, so that it does not
// matter in which order nodes come.
const parts = 64

// hand is what a node has.
type hand struct {
	blocks int // affinities, which count towards the node's limit
	own    int // addresses that are free in its blocks
	odd    int // those in blocks of another size than their pool's: no node borrows from them
}

// stock is an enabled pool with its remaining addresses.
type stock struct {
	*model.IPPool
	size      int // addresses that are not reserved
	free      int // of these, in blocks that exist, not in use
	fit       int // of these, in blocks of the pool's present size
	positions int // blocks that do not exist and are not reserved from end to end
	open      int // addresses in them that are not reserved
	chosen    map[string]bool
}

// serves reports whether a pod on the node gets its address from the pool.
func (p *stock) serves(node string) bool { return p.chosen[node] }

// stock takes stock of the pools of a family.
func (s *snapshot) stock(n *model.Network, v4 bool) []stock {
	var out []stock
	for i := range n.Blocks.Pools {
		p := &n.Blocks.Pools[i]
		if p.Disabled || p.Prefix.Addr().Is4() != v4 {
			continue
		}
		x := stock{IPPool: p, chosen: map[string]bool{}}
		if !p.Manual && p.Workloads && !p.Selective {
			for _, node := range p.Nodes {
				x.chosen[node] = true
			}
		}
		x.take(s.Blocks, n.Blocks.Reserved)
		out = append(out, x)
	}
	return out
}

// take counts what blocks and reservations leave of the pool.
func (p *stock) take(blocks []model.BlockUse, reserved []netip.Prefix) {
	block := netip.PrefixFrom(p.Prefix.Addr(), p.BlockBits)
	p.size = Addresses(p.Prefix)
	if p.Prefix.Bits() <= p.BlockBits {
		p.positions = 1 << min(p.BlockBits-p.Prefix.Bits(), 40)
	}
	exist := map[netip.Prefix]bool{}
	for i := range blocks {
		b := &blocks[i]
		if !p.Prefix.Contains(b.Prefix.Addr()) {
			continue
		}
		p.free += b.Free
		if b.Prefix.Bits() == p.BlockBits {
			p.fit += b.Free
			p.positions--
			exist[b.Prefix] = true
		}
	}
	p.open = p.positions * Addresses(block)
	held := map[netip.Prefix]int{} // reserved addresses of positions that are not reserved as a whole
	for _, x := range model.Outermost(reserved) {
		if !p.Prefix.Overlaps(x) {
			continue
		}
		if x.Bits() < p.Prefix.Bits() {
			x = p.Prefix
		}
		p.size -= Addresses(x)
		if x.Bits() > p.BlockBits {
			held[netip.PrefixFrom(x.Addr(), p.BlockBits).Masked()] += Addresses(x)
			continue
		}
		gone := 1 << min(p.BlockBits-x.Bits(), 40)
		for b := range exist {
			if x.Contains(b.Addr()) {
				gone--
			}
		}
		p.positions -= gone
		p.open -= gone * Addresses(block)
	}
	for b, n := range held {
		if exist[b] {
			continue
		}
		p.open -= n
		if n == Addresses(block) {
			p.positions--
		}
	}
}
