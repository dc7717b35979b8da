package calico

import (
	"cmp"
	"maps"
	"net/netip"
	"slices"

	"ipamsim/model"
)

// Free returns how many addresses of a family a node's next pods can get, one after the other,
// if no other node asks in between. It is model.Free, a lower bound where addresses are
// reserved, or blocks or pools overlap, and saturates at model.FreeMax. A pod that gets both
// families needs both.
//
// It reads the node's blocks and the pools, unless something is reserved or overlaps: then it
// takes a Snapshot.
func (a *Allocator) Free(node string, v6 bool) int {
	h := a.hosts[node]
	if h == nil || !h.known {
		return 0
	}
	free, ok := a.reach(h, v6)
	if !ok {
		return model.Free([]model.Network{a.Network(!v6, v6)}, a.Snapshot(), "", node)
	}
	return free
}

// reach is Free if nothing is reserved and every block has its pool's size.
func (a *Allocator) reach(h *host, v6 bool) (free int, ok bool) {
	if a.overlap || a.crooked > 0 || len(a.reserved) > 0 {
		return 0, false
	}
	f := 0
	if v6 {
		f = 1
	}
	for _, p := range a.pools {
		p.made = 0
	}
	left := cmp.Or(a.Config.MaxBlocks, model.MaxBlocksDefault)
	for _, x := range h.affinities[f] {
		p := a.poolOf(x.block.prefix.Addr(), true)
		if p == nil || !p.open(h) {
			continue
		}
		if x.block.prefix.Bits() != p.BlockBits {
			return 0, false
		}
		if left--; p.selective() || x.block.exists && x.block.owner != h {
			continue
		}
		if x.block.exists {
			free += int(x.block.free)
		} else {
			free += 1 << (p.Prefix.Addr().BitLen() - p.BlockBits)
			p.made++ // the node's own, though there is no block yet
		}
	}
	if left = max(left, 0); !a.Config.AutoAllocate {
		left = 0
	}
	blocks, room, least, others := a.room(h, v6)
	if left > blocks && !a.Config.Strict {
		for _, b := range h.owned { // which are among the others as well
			if a.counted(h, b, f) {
				others -= int(b.free)
			}
		}
		free += others
	}
	free = min(free, model.FreeMax)
	if left >= blocks {
		return min(free+room, model.FreeMax), true
	}
	return min(free+left*least, model.FreeMax), true
}

// counted reports whether an owned block is one that reach has counted as the
// node's own.
func (a *Allocator) counted(h *host, b *block, f int) bool {
	p := a.poolOf(b.prefix.Addr(), true)
	return model.Family(b.prefix.Addr()) == f && p != nil && p.open(h) && !p.selective() &&
		slices.ContainsFunc(h.affinities[f], func(x affinity) bool { return x.block == b })
}

// room is what pools that serve every pod on a node have left: blocks, addresses in
// these, those of the smallest kind of block, and free ones in blocks that exist.
func (a *Allocator) room(h *host, v6 bool) (blocks, addrs, least, others int) {
	least = model.FreeMax
	for _, p := range a.pools {
		if p.v6() != v6 || !p.open(h) || p.selective() {
			continue
		}
		others = min(others+p.free, model.FreeMax)
		size := 1 << (p.Prefix.Addr().BitLen() - p.BlockBits)
		all := model.FreeMax << 12 // more than the number of blocks can be, and still an int
		if bits := p.BlockBits - p.Prefix.Bits(); bits < 0 {
			all = 0
		} else if bits < 32 {
			all = 1 << bits
		}
		n := min(max(all-p.blocks-p.made, 0)*size, model.FreeMax) / size
		if n == 0 {
			continue
		}
		blocks += n
		least = min(least, size)
		addrs = min(addrs+n*size, model.FreeMax)
	}
	return blocks, addrs, least, others
}

// open reports whether some pod on a node gets its address from the pool.
func (p *pool) open(h *host) bool {
	return !p.Disabled && !p.Manual && p.allows(Workload) && p.selects(h)
}

// selective reports whether some pods do not.
func (p *pool) selective() bool { return p.NamespaceSelector != "" && p.NamespaceSelector != "all()" }

// assess recomputes which blocks lie in which pool, after pools have changed.
func (a *Allocator) assess() {
	a.overlap, a.crooked = false, 0
	for i, p := range a.pools {
		p.blocks, p.free = 0, 0
		a.overlap = a.overlap || p.Prefix.Bits() > p.BlockBits
		for _, q := range a.pools[:i] {
			a.overlap = a.overlap || p.Prefix.Overlaps(q.Prefix)
		}
	}
	for _, b := range a.sorted {
		b.pool, b.crooked = nil, false
		a.settleIn(b)
	}
}

// settleIn counts a block in the pool that it lies in.
func (a *Allocator) settleIn(b *block) {
	for _, p := range a.pools {
		if p.Prefix.Overlaps(b.prefix) && p.BlockBits != b.prefix.Bits() {
			b.crooked = true
		}
	}
	if b.crooked {
		a.crooked++
	}
	if b.pool = a.poolOf(b.prefix.Addr(), true); b.pool != nil {
		b.pool.blocks++
		b.pool.free += int(b.free)
	}
}

// settleOut is the end of a block in its pool.
func (a *Allocator) settleOut(b *block) {
	if b.crooked {
		a.crooked--
	}
	if b.pool != nil {
		b.pool.blocks--
		b.pool.free -= int(b.free)
	}
	b.pool, b.crooked = nil, false
}

// setFree says how many free addresses of a block are not reserved.
func (a *Allocator) setFree(b *block, n int32) {
	if b.pool != nil {
		b.pool.free += int(n - b.free)
	}
	b.free = n
}

// Network is the policy that requests are served by, as model.Free and the oracles
// read it: of pods that get addresses of the given families, in namespaces without
// labels. Its key is "". Pools that were there before are not in it.
func (a *Allocator) Network(v4, v6 bool) model.Network {
	b := &model.BlockPolicy{
		Strict: a.Config.Strict, AutoAllocate: a.Config.AutoAllocate, MaxBlocks: cmp.Or(a.Config.MaxBlocks, model.MaxBlocksDefault), V4: v4, V6: v6,
	}
	nodes := slices.Sorted(maps.Keys(a.hosts))
	for _, p := range a.pools {
		x := model.IPPool{
			Name: p.Name, Prefix: p.Prefix, BlockBits: p.BlockBits, Disabled: p.Disabled, Manual: p.Manual,
			Workloads: p.allows(Workload), Tunnels: p.allows(Tunnel), Selective: p.selective(),
		}
		for _, n := range nodes {
			if h := a.hosts[n]; h.known && p.selects(h) {
				x.Nodes = append(x.Nodes, n)
			}
		}
		b.Pools = append(b.Pools, x)
	}
	slices.SortStableFunc(b.Pools, func(x, y model.IPPool) int { return x.Prefix.Compare(y.Prefix) })
	n := model.Network{Blocks: b}
	for i := range b.Pools {
		p := b.Pools[i].Prefix
		n.Ranges = append(n.Ranges, model.Range{Prefix: p, Start: p.Addr(), End: model.LastAddr(p)})
	}
	b.Reserved = a.reservedPrefixes()
	return n
}

// reservedPrefixes are the reserved addresses as the smallest list of prefixes.
func (a *Allocator) reservedPrefixes() (out []netip.Prefix) {
	for _, s := range a.reserved {
		for at := s.first; at.IsValid() && !s.last.Less(at); {
			p := netip.PrefixFrom(at, at.BitLen())
			for p.Bits() > 0 {
				wider := netip.PrefixFrom(at, p.Bits()-1)
				if wider.Masked() != wider || s.last.Less(model.LastAddr(wider)) {
					break
				}
				p = wider
			}
			out, at = append(out, p), model.LastAddr(p).Next()
		}
	}
	return out
}
