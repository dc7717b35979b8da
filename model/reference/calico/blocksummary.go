package calico

import (
	"iter"
	"maps"
	"net/netip"
	"slices"

	"ipamsim/model"
)

// Blocks lists the blocks in the order of their prefixes. The caller must not change anything
// during the iteration.
func (a *Allocator) Blocks() iter.Seq[model.BlockUse] {
	return func(yield func(model.BlockUse) bool) {
		for _, b := range a.sorted {
			if !yield(a.use(b)) {
				return
			}
		}
	}
}

func (a *Allocator) use(b *block) model.BlockUse {
	out := model.BlockUse{Prefix: b.prefix, InUse: int(b.taken), Free: int(b.free), Borrowed: int(b.away)}
	if p := a.poolOf(b.prefix.Addr(), true); p != nil {
		out.Pool = p.Name
	}
	if b.owner != nil {
		out.Owner = b.owner.name
		out.Affine = slices.ContainsFunc(b.owner.affinities[model.Family(b.prefix.Addr())], func(x affinity) bool { return x.block == b })
	}
	return out
}

// Claims are the addresses of a block that are in use, in their order; none if there
// is no such block.
func (a *Allocator) Claims(p netip.Prefix) iter.Seq[model.Claim] {
	return func(yield func(model.Claim) bool) {
		b := a.block(p)
		if b == nil {
			return
		}
		name := blockName(p)
		for o := range b.slots {
			if b.slots[o].handle != nil && !yield(b.claim(name, uint16(o))) {
				return
			}
		}
	}
}

// Affinities lists the nodes' claims to blocks, in the order of nodes. The caller must not
// change anything during the iteration.
func (a *Allocator) Affinities() iter.Seq2[string, netip.Prefix] {
	return func(yield func(string, netip.Prefix) bool) {
		for _, name := range slices.Sorted(maps.Keys(a.hosts)) {
			for _, all := range a.hosts[name].affinities {
				for _, x := range all {
					if !yield(name, x.block.prefix) {
						return
					}
				}
			}
		}
	}
}

// Totals counts what there is.
type Totals struct {
	Blocks      int
	EmptyBlocks int // of these: no address in use
	InUse       int // addresses
	Borrowed    int // of these, by another node than their block's owner
	Affinities  int // of nodes to blocks, that exist or not
	Stale       int // of these, of nodes that Calico has no object of any more
}

// Totals is always up to date and costs nothing.
func (a *Allocator) Totals() Totals { return a.totals }

// Node describes a node that the datastore names, even if only in a block.
type Node struct {
	Known      bool // Calico's node object exists
	Affinities int  // to blocks of both families, that exist or not
	Owned      int  // blocks that name it as their owner
	Free       int  // of these blocks' addresses, those that are free and not reserved
}

// Node looks at one.
func (a *Allocator) Node(name string) (n Node) {
	h := a.hosts[name]
	if h == nil {
		return n
	}
	n = Node{Known: h.known, Affinities: len(h.affinities[0]) + len(h.affinities[1]), Owned: len(h.owned)}
	for _, b := range h.owned {
		n.Free += int(b.free)
	}
	return n
}
