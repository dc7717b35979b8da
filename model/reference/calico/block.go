package calico

import (
	"encoding/binary"
	"fmt"
	"net/netip"
	"slices"

	"ipamsim/model"
)

// block is an AllocationBlock.
type block struct {
	prefix netip.Prefix
	owner  *host // nil: nobody
	// waiting are the free ordinals in the order in which they are handed out.
	// Released ones come to the end, so that an address rests as long as possible.
	waiting []uint16
	held    []*allocation // by ordinal
	free    int           // of waiting, without the reserved
	taken   int
	seq     uint64 // upstream's SequenceNumber: no two writes of one CIDR share it
	// since is, by ordinal, seq when the address was taken. A release by handle
	// leaves it behind, as upstream does.
	since []uint64
}

// allocation is what a block says about an address that is taken.
type allocation struct {
	handle string
	node   string // "" for none
	pod    model.PodRef
	tunnel bool
}

// nth is the address at an ordinal.
func (b *block) nth(ordinal uint16) netip.Addr {
	x := b.prefix.Addr().As16()
	binary.BigEndian.PutUint64(x[8:], binary.BigEndian.Uint64(x[8:])+uint64(ordinal))
	if b.prefix.Addr().Is4() {
		return netip.AddrFrom16(x).Unmap()
	}
	return netip.AddrFrom16(x)
}

// ordinal is the place of an address of the block in it.
func (b *block) ordinal(addr netip.Addr) uint16 {
	x, base := addr.As16(), b.prefix.Addr().As16()
	return uint16(binary.BigEndian.Uint64(x[8:]) - binary.BigEndian.Uint64(base[8:]))
}

// claim makes a block, and the affinity of its owner.
//
// Source: ipam_block_reader_writer.go, claimAffineBlock; ipam_block.go, newBlock.
func (a *Allocator) claim(h *host, p netip.Prefix) *block {
	b := a.born(p, h)
	a.addAffinity(h, p)
	a.recount(b)
	return b
}

// born is a new block, of a node or nobody. It has to be counted.
func (a *Allocator) born(p netip.Prefix, h *host) *block {
	n := 1 << (p.Addr().BitLen() - p.Bits())
	a.births++
	b := &block{prefix: p, waiting: make([]uint16, n), held: make([]*allocation, n), since: make([]uint64, n), seq: a.births << 32}
	for i := range b.waiting {
		b.waiting[i] = uint16(i)
	}
	a.blocks[p] = b
	a.shelf(p).add(p)
	a.own(b, h)
	return b
}

// own gives a block to a node, or to nobody.
func (a *Allocator) own(b *block, h *host) {
	if old := b.owner; old != nil {
		i := slices.Index(old.owned, b)
		old.owned = slices.Delete(old.owned, i, i+1)
	}
	if b.owner = h; h != nil {
		h.owned = append(h.owned, b)
	}
}

// remove deletes a block, with whatever it holds.
func (a *Allocator) remove(b *block) {
	h := b.owner
	a.own(b, nil)
	a.shelf(b.prefix).drop(b)
	delete(a.blocks, b.prefix)
	if h != nil {
		a.forget(h)
	}
}

// recount brings free and the shelf up to date.
func (a *Allocator) recount(b *block) {
	b.free = len(b.waiting)
	if len(a.reserved) > 0 {
		for _, o := range b.waiting {
			if a.isReserved(b.nth(o)) {
				b.free--
			}
		}
	}
	a.shelf(b.prefix).mark(b)
}

// take hands out up to num addresses of a block, the one that is free longest
// first.
//
// Source: ipam_block.go, autoAssign; ipam.go, assignFromExistingBlock. Upstream
// counts the addresses it wanted in the handle, not those it got.
func (a *Allocator) take(b *block, num int, x *allocation) []netip.Addr {
	var out []netip.Addr
	for i := 0; i < len(b.waiting) && len(out) < num && b.free > 0; {
		o := b.waiting[i]
		addr := b.nth(o)
		if a.isReserved(addr) {
			i++
			continue
		}
		if i == 0 {
			b.waiting = b.waiting[1:]
		} else {
			b.waiting = slices.Delete(b.waiting, i, i+1)
		}
		b.hold(o, x)
		b.free--
		out = append(out, addr)
	}
	if len(out) > 0 {
		a.count(x.handle, b.prefix, num)
		b.seq++
		a.shelf(b.prefix).mark(b)
	}
	return out
}

func (b *block) hold(ordinal uint16, x *allocation) {
	b.held[ordinal], b.since[ordinal] = x, b.seq
	b.taken++
}

// assign hands out one certain address, reserved or not.
//
// Source: ipam_block.go, assign.
func (a *Allocator) assign(b *block, addr netip.Addr, x *allocation) error {
	o := b.ordinal(addr)
	if b.held[o] != nil {
		return fmt.Errorf("%s: %w", addr, ErrTaken)
	}
	i := slices.Index(b.waiting, o)
	b.waiting = slices.Delete(b.waiting, i, i+1)
	if !a.isReserved(addr) {
		b.free--
	}
	b.hold(o, x)
	a.count(x.handle, b.prefix, 1)
	b.seq++
	a.shelf(b.prefix).mark(b)
	return nil
}

// put takes ordinals back, in that order. A block that nobody owns goes with its
// last address.
func (a *Allocator) put(b *block, ordinals []uint16) {
	for _, o := range ordinals {
		b.held[o] = nil
		b.waiting = append(b.waiting, o)
		if !a.isReserved(b.nth(o)) {
			b.free++
		}
	}
	b.taken -= len(ordinals)
	b.seq++
	if b.taken == 0 && b.owner == nil {
		a.remove(b)
		return
	}
	a.shelf(b.prefix).mark(b)
}
