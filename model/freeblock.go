package model

import (
	"cmp"
	"net/netip"
	"slices"
)

// MaxBlocksDefault is the number of blocks that a node may claim if neither the request nor the
// configuration sets a limit.
//
// Source: libcalico-go/lib/ipam/ipam.go, autoAssign ("defaulting to reasonable
// limit", v3.31).
const MaxBlocksDefault = 20

// freeBlocks is Free for a network whose nodes claim blocks: the least over the
// families that a pod gets an address of.
//
// A node hands out addresses in this order: of its own blocks; of unclaimed blocks, if
// AutoAllocate is on and until the limit is reached; and of the blocks of other nodes,
// unless Strict is on. It borrows from other nodes only when no block is left to claim:
// upstream refuses the request of a node that has reached its limit or may not allocate,
// and does not try to borrow.
//
// A pool counts if it selects the node and serves every pod: it is not disabled, Manual
// or Selective. A block can be borrowed from only if it has the present block size of its
// pool. A block that overlaps another is not counted as left to claim.
//
// Source: libcalico-go/lib/ipam/ipam.go, autoAssign, determinePools,
// prepareAffinityBlocksForHost, findOrClaimBlock; ipam_block_reader_writer.go,
// findUsableBlock (v3.31).
func freeBlocks(networks []Network, s Snapshot, n *Network, node string) int {
	if !n.Blocks.V4 && !n.Blocks.V6 {
		return 0
	}
	used := usedIn(networks, s, n, "")
	least := FreeMax
	for _, v4 := range []bool{true, false} {
		if (v4 && n.Blocks.V4) || (!v4 && n.Blocks.V6) {
			f := family{policy: n.Blocks, node: node, v4: v4, used: used}
			f.read(n, &s)
			least = min(least, f.free())
		}
	}
	return least
}

// Claimable reports whether a pool that serves every pod on a node has an unclaimed block, whatever
// the node's limit is.
func Claimable(n *Network, s *Snapshot, node string, v4 bool) bool {
	f := family{policy: n.Blocks, node: node, v4: v4}
	f.read(n, s)
	return f.room().blocks > 0
}

// family is the input of Free for one address family of one node.
type family struct {
	policy *BlockPolicy
	node   string
	v4     bool
	used   []netip.Addr
	pools  []*IPPool      // that any pod on the node is served from
	blocks []*Pool        // all there are
	own    []netip.Prefix // to hand out from, whether the block exists already or not
	left   int            // how many more blocks the node may claim
}

func (f *family) read(n *Network, s *Snapshot) {
	for i := range f.policy.Pools {
		p := &f.policy.Pools[i]
		if f.serves(p) && !p.Selective {
			f.pools = append(f.pools, p)
		}
	}
	for i := range s.Pools {
		if p := &s.Pools[i]; p.Range.Addr().Is4() == f.v4 && n.Owns(p) {
			f.blocks = append(f.blocks, p)
		}
	}
	f.left = cmp.Or(f.policy.MaxBlocks, MaxBlocksDefault)
	for i := range s.Affinities {
		a := &s.Affinities[i]
		pool := f.policy.PoolOf(a.Block.Addr())
		if a.Node != f.node || a.Block.Addr().Is4() != f.v4 || pool == nil || !f.serves(pool) {
			continue
		}
		f.left-- // upstream counts an affinity in any state
		if !pool.Selective && a.State != PendingDeletion && f.mine(a.Block) {
			f.own = append(f.own, a.Block.Masked())
		}
	}
	f.left = max(f.left, 0)
	if !f.policy.AutoAllocate {
		f.left = 0
	}
}

// serves reports whether some pod on the node gets its address from the pool.
func (f *family) serves(p *IPPool) bool {
	return p.Prefix.Addr().Is4() == f.v4 && !p.Disabled && !p.Manual && p.Workloads && slices.Contains(p.Nodes, f.node)
}

// mine reports whether a block that the node has an affinity for is its own: the block
// names the node, or it does not exist yet and overlaps no other block.
func (f *family) mine(block netip.Prefix) bool {
	for _, p := range f.blocks {
		switch {
		case p.Range.Masked() == block.Masked():
			return p.Node == f.node
		case p.Range.Overlaps(block):
			return false
		}
	}
	return true
}

func (f *family) free() int {
	reach, room := slices.Clone(f.own), f.room()
	if f.left > room.blocks+room.taken && !f.policy.Strict {
		reach = append(reach, f.others()...)
	}
	free := 0
	for _, p := range Outermost(reach) {
		free = min(free+f.within(p, f.policy.Reserved), FreeMax)
	}
	if f.left >= room.blocks+room.taken {
		return min(free+room.addrs, FreeMax)
	}
	// Which blocks the node claims is up to its name, so expect the worst: first
	// those that overlap others, then those with the most reserved addresses.
	claims := max(f.left-room.taken, 0)
	return min(free+max(claims*room.least-room.reserved, 0), FreeMax)
}

// room is what is left to claim in all pools.
type room struct {
	blocks   int
	taken    int // at most this many more overlap a block of another size; upstream takes them for free
	least    int // addresses of the smallest kind of block, reserved or not
	addrs    int // free addresses of all blocks
	reserved int // at most this many of their addresses are reserved
}

func (f *family) room() room {
	r := room{least: FreeMax}
	for _, p := range f.pools {
		var gone, odd, single []netip.Prefix
		for _, x := range f.policy.Reserved {
			if x.Bits() <= p.BlockBits {
				gone = append(gone, x)
			} else if p.Prefix.Overlaps(x) {
				single = append(single, x)
			}
		}
		for _, b := range append(f.ranges(), f.own...) {
			hull := netip.PrefixFrom(b.Addr(), min(b.Bits(), p.BlockBits)).Masked()
			gone = append(gone, hull)
			if b.Bits() != p.BlockBits && p.Prefix.Overlaps(b) {
				odd = append(odd, hull)
			}
		}
		for _, x := range Outermost(odd) {
			r.taken += 1 << min(p.BlockBits-x.Bits(), 20)
		}
		size := 1 << min(p.Prefix.Addr().BitLen()-p.BlockBits, 20)
		blocks := f.within(p.Prefix, gone) / size
		if blocks == 0 {
			continue
		}
		r.blocks += blocks
		r.least = min(r.least, size)
		r.addrs = min(r.addrs+f.within(p.Prefix, append(gone, single...)), FreeMax)
		for _, x := range Outermost(single) {
			r.reserved += 1 << min(x.Addr().BitLen()-x.Bits(), 20)
		}
	}
	return r
}

func (f *family) ranges() []netip.Prefix {
	out := make([]netip.Prefix, 0, len(f.blocks)+len(f.own))
	for _, b := range f.blocks {
		out = append(out, b.Range)
	}
	return out
}

// others are the blocks that are not the node's and that it could borrow from.
func (f *family) others() []netip.Prefix {
	var out []netip.Prefix
	for _, b := range f.blocks {
		if slices.ContainsFunc(f.pools, func(p *IPPool) bool { return p.Prefix.Contains(b.Range.Addr()) && p.BlockBits == b.Range.Bits() }) {
			out = append(out, b.Range.Masked())
		}
	}
	return out
}

// within counts the addresses of a prefix that are neither in the other prefixes nor in use.
func (f *family) within(p netip.Prefix, without []netip.Prefix) int {
	p = p.Masked()
	r := Range{Prefix: p, Start: p.Addr(), End: LastAddr(p), Exclude: without}
	return min(r.FreeBetween(r.Start, r.End, f.used), FreeMax)
}

// Outermost sorts prefixes and drops those inside others, so that no address is
// counted twice.
func Outermost(list []netip.Prefix) []netip.Prefix {
	var out []netip.Prefix
	for _, p := range slices.SortedFunc(slices.Values(list), netip.Prefix.Compare) {
		if len(out) == 0 || !out[len(out)-1].Overlaps(p) {
			out = append(out, p.Masked())
		}
	}
	return out
}
