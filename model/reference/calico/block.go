package calico

import (
	"encoding/binary"
	"fmt"
	"net/netip"
	"slices"

	"ipamsim/model"
)

// block is an AllocationBlock, or the place of one that does not exist, which
// handles and affinities may name all the same.
type block struct {
	prefix  netip.Prefix
	owner   *host // nil: nobody
	exists  bool
	open    bool   // it is among the open ones of its shelf
	noted   bool   // it is among those that the collector has to look at again
	names   int    // how many affinities and counts of handles name it
	slots   []slot // by ordinal
	waiting queue  // those that are free
	free    int    // of these, those that are not reserved
	taken   int
	away    int    // of these, by another node than the owner
	seq     uint32 // upstream's SequenceNumber: counts the block's writes, from 1
	birth   uint64 // no two blocks of one prefix share it
}

// slot is an address of a block.
type slot struct {
	held *allocation // nil: free
	// since is the block's seq when the address was taken. A release by handle leaves
	// it behind, as upstream does.
	since uint32
}

// allocation is what a block says about an address that is taken.
type allocation struct {
	handle *handle
	owner
}

// owner is whom an address was given to.
type owner struct {
	node   string // "" for none
	pod    model.PodRef
	tunnel bool
}

// version tells two states of the blocks of one prefix apart.
func (b *block) version() uint64 { return b.birth<<32 | uint64(b.seq) }

// sequence is the version in which an address was taken; 0: it was not, or was
// released by its address.
func (b *block) sequence(ordinal uint16) uint64 {
	if b.slots[ordinal].since == 0 {
		return 0
	}
	return b.birth<<32 | uint64(b.slots[ordinal].since)
}

// nth is the address at an ordinal.
func (b *block) nth(ordinal uint16) netip.Addr {
	if b.prefix.Addr().Is4() {
		x := b.prefix.Addr().As4()
		binary.BigEndian.PutUint32(x[:], binary.BigEndian.Uint32(x[:])+uint32(ordinal))
		return netip.AddrFrom4(x)
	}
	x := b.prefix.Addr().As16()
	binary.BigEndian.PutUint64(x[8:], binary.BigEndian.Uint64(x[8:])+uint64(ordinal))
	return netip.AddrFrom16(x)
}

// ordinal is the place of an address of the block in it.
func (b *block) ordinal(addr netip.Addr) uint16 {
	x, base := addr.As16(), b.prefix.Addr().As16()
	return uint16(binary.BigEndian.Uint64(x[8:]) - binary.BigEndian.Uint64(base[8:]))
}

// block is the one of a prefix; nil if it does not exist.
func (a *Allocator) block(p netip.Prefix) *block {
	if b := a.places[p]; b != nil && b.exists {
		return b
	}
	return nil
}

// place is where the block of a prefix is, or would be.
func (a *Allocator) place(p netip.Prefix) *block {
	b := a.places[p]
	if b == nil {
		b = &block{prefix: p}
		a.places[p] = b
	}
	return b
}

// vacate drops a place that nobody names and where no block is.
func (a *Allocator) vacate(b *block) {
	if b.names == 0 && !b.exists {
		delete(a.places, b.prefix)
	}
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
	b := a.place(p)
	b.exists, b.birth, b.seq = true, a.births, 1
	b.waiting, b.slots = newQueue(n), make([]slot, n)
	b.free, b.taken, b.away = 0, 0, 0
	i, _ := a.sortedPlace(p)
	a.sorted = slices.Insert(a.sorted, i, b)
	a.totals.Blocks++
	a.totals.EmptyBlocks++
	a.shelf(p).add(p)
	a.own(b, h)
	a.note(b)
	return b
}

func (a *Allocator) sortedPlace(p netip.Prefix) (int, bool) {
	return slices.BinarySearchFunc(a.sorted, p, func(b *block, p netip.Prefix) int { return b.prefix.Compare(p) })
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
	a.totals.Borrowed -= b.away
	b.away = 0
	if b.taken > 0 {
		for i := range b.slots {
			if x := b.slots[i].held; x != nil && b.lends(x) {
				b.away++
			}
		}
	}
	a.totals.Borrowed += b.away
}

// lends reports whether an address of the block is used by another node than its
// owner.
func (b *block) lends(x *allocation) bool {
	return x.node != "" && (b.owner == nil || x.node != b.owner.name)
}

// remove deletes a block, with whatever it holds.
func (a *Allocator) remove(b *block) {
	h := b.owner
	for o := range b.slots {
		if b.slots[o].held != nil {
			a.unhold(b, uint16(o))
		}
	}
	a.own(b, nil)
	b.free = 0
	a.mark(b)
	a.shelf(b.prefix).drop(b)
	i, _ := a.sortedPlace(b.prefix)
	a.sorted = slices.Delete(a.sorted, i, i+1)
	a.totals.Blocks--
	a.totals.EmptyBlocks--
	a.note(b)
	b.exists, b.waiting, b.slots = false, queue{}, nil
	a.vacate(b)
	if h != nil {
		a.forget(h)
	}
}

// wrote counts a write of a block.
func (a *Allocator) wrote(b *block) {
	b.seq++
	a.note(b)
}

// note tells the collector that a block may have become something else.
func (a *Allocator) note(b *block) {
	if a.listener != nil && !b.noted {
		b.noted = true
		a.noted = append(a.noted, b)
	}
}

// recount brings free and the shelf up to date.
func (a *Allocator) recount(b *block) {
	b.free = b.waiting.n
	if len(a.reserved) > 0 {
		for i := range b.waiting.n {
			if a.isReserved(b.nth(*b.waiting.at(i))) {
				b.free--
			}
		}
	}
	a.mark(b)
}

// take hands out up to num addresses of a block, the one that is free longest
// first, and appends them to out.
//
// Source: ipam_block.go, autoAssign; ipam.go, assignFromExistingBlock. Upstream
// counts the addresses it wanted in the handle, not those it got.
func (a *Allocator) take(out []netip.Addr, b *block, num int, x *allocation) []netip.Addr {
	got := 0
	var last uint16
	for i := 0; i < b.waiting.n && got < num && b.free > 0; {
		addr := b.nth(*b.waiting.at(i))
		if a.isReserved(addr) {
			i++
			continue
		}
		last = b.waiting.take(i)
		a.hold(b, last, x)
		b.free--
		got++
		out = append(out, addr)
	}
	if got > 0 {
		a.count(x.handle, b, num).last = last
		a.wrote(b)
		a.mark(b)
	}
	return out
}

func (a *Allocator) hold(b *block, ordinal uint16, x *allocation) {
	b.slots[ordinal] = slot{x, b.seq}
	if b.taken++; b.taken == 1 {
		a.totals.EmptyBlocks--
	}
	x.handle.claims++
	if x != &x.handle.first {
		x.handle.others++
	}
	a.totals.InUse++
	if b.lends(x) {
		b.away++
		a.totals.Borrowed++
	}
}

// unhold forgets who has an address, which is not free thereby.
func (a *Allocator) unhold(b *block, ordinal uint16) {
	x := b.slots[ordinal].held
	b.slots[ordinal].held = nil
	if b.taken--; b.taken == 0 {
		a.totals.EmptyBlocks++
	}
	a.totals.InUse--
	if b.lends(x) {
		b.away--
		a.totals.Borrowed--
	}
	x.handle.claims--
	if x != &x.handle.first {
		x.handle.others--
	}
	a.drop(x.handle)
}

// assign hands out one certain address, reserved or not.
//
// Source: ipam_block.go, assign.
func (a *Allocator) assign(b *block, addr netip.Addr, x *allocation) error {
	o := b.ordinal(addr)
	if b.slots[o].held != nil {
		return fmt.Errorf("%s: %w", addr, ErrTaken)
	}
	b.waiting.take(b.waiting.index(o))
	if !a.isReserved(addr) {
		b.free--
	}
	a.hold(b, o, x)
	a.count(x.handle, b, 1).last = o
	a.wrote(b)
	a.mark(b)
	return nil
}

// put takes ordinals back, in that order. A block that nobody owns goes with its
// last address.
func (a *Allocator) put(b *block, ordinals ...uint16) {
	for _, o := range ordinals {
		a.unhold(b, o)
		b.waiting.push(o)
		if !a.isReserved(b.nth(o)) {
			b.free++
		}
	}
	a.wrote(b)
	if b.taken == 0 && b.owner == nil {
		a.remove(b)
		return
	}
	a.mark(b)
}
