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
	slots   []slot // by ordinal
	queue          // of the free ordinals
	free    int32  // of these, those that are not reserved
	taken   int32
	away    int32  // of these, by another node than the owner
	seq     uint32 // upstream's SequenceNumber: counts the block's writes, from 1
	owner   *host  // nil: no owner
	pool    *pool  // that it lies in, as long as it exists
	names   int32  // how many affinities and counts of handles name it
	exists  bool
	open    bool // it is one of the open blocks of its shelf
	noted   bool // it is among those that the collector has to look at again
	crooked bool // not of the size of a pool that it overlaps
	prefix  netip.Prefix
	birth   uint64          // no two blocks of one prefix share it
	odd     map[uint16]user // of the slots that are odd
}

// slot is an address of a block.
type slot struct {
	handle *handle // nil: free
	// since is the block's seq when the address was taken. A release by handle leaves
	// it behind, as upstream does.
	since  uint32
	queued uint16 // not of this address: the block's queue lies in its slots
	away   bool   // used by another node than the block's owner
	odd    bool   // used by another one than its handle says
}

// user is the owner of an address.
type user struct {
	node   string // "" for none
	pod    model.PodRef
	tunnel bool
}

// user is the owner of an assigned address.
func (b *block) user(ordinal uint16) user {
	s := &b.slots[ordinal]
	if s.odd {
		return b.odd[ordinal]
	}
	return s.handle.card.user
}

// version distinguishes two states of the blocks of one prefix.
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

// vacate drops an entry that nothing refers to and that has no block.
func (a *Allocator) vacate(b *block) {
	if b.names == 0 && !b.exists {
		delete(a.places, b.prefix)
	}
}

// claim creates a block, and the affinity of its owner.
//
// Source: ipam_block_reader_writer.go, claimAffineBlock; ipam_block.go, newBlock.
func (a *Allocator) claim(h *host, p netip.Prefix) *block {
	b := a.born(p, h)
	a.addAffinity(h, p)
	a.recount(b)
	return b
}

// born creates a block, owned by a node or without an owner. The caller has to count it.
func (a *Allocator) born(p netip.Prefix, h *host) *block {
	n := 1 << (p.Addr().BitLen() - p.Bits())
	a.births++
	b := a.place(p)
	b.exists, b.birth, b.seq = true, a.births, 1
	b.slots, b.odd = make([]slot, n), nil
	b.free, b.taken, b.away, b.queue = 0, 0, 0, queue{}
	for o := range n {
		b.push(uint16(o))
	}
	i, _ := a.sortedPlace(p)
	a.sorted = slices.Insert(a.sorted, i, b)
	a.totals.Blocks++
	a.totals.EmptyBlocks++
	a.shelf(p).add(p)
	a.settleIn(b)
	a.own(b, h)
	a.note(b)
	return b
}

func (a *Allocator) sortedPlace(p netip.Prefix) (int, bool) {
	return slices.BinarySearchFunc(a.sorted, p, func(b *block, p netip.Prefix) int { return b.prefix.Compare(p) })
}

// own makes a node the owner of a block, or removes the owner.
func (a *Allocator) own(b *block, h *host) {
	if old := b.owner; old != nil {
		i := slices.Index(old.owned, b)
		old.owned = slices.Delete(old.owned, i, i+1)
	}
	if b.owner = h; h != nil {
		h.owned = append(h.owned, b)
	}
	if b.taken == 0 {
		return
	}
	for o := range b.slots {
		if b.slots[o].handle != nil {
			a.lend(b, &b.slots[o], b.lends(b.user(uint16(o)).node))
		}
	}
}

// lends reports whether an address of the block that a node uses is borrowed.
func (b *block) lends(node string) bool {
	return node != "" && (b.owner == nil || node != b.owner.name)
}

// lend says whether an address is borrowed.
func (a *Allocator) lend(b *block, s *slot, away bool) {
	if s.away == away {
		return
	}
	if s.away = away; away {
		b.away++
		a.totals.Borrowed++
	} else {
		b.away--
		a.totals.Borrowed--
	}
}

// remove deletes a block with its allocations.
func (a *Allocator) remove(b *block) {
	h := b.owner
	for o := range b.slots {
		if b.slots[o].handle != nil {
			a.unhold(b, uint16(o))
		}
	}
	a.own(b, nil)
	a.settleOut(b)
	b.free = 0
	a.mark(b)
	a.shelf(b.prefix).drop(b)
	i, _ := a.sortedPlace(b.prefix)
	a.sorted = slices.Delete(a.sorted, i, i+1)
	a.totals.Blocks--
	a.totals.EmptyBlocks--
	a.note(b)
	b.exists, b.queue, b.slots = false, queue{}, nil
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

// note marks a block as changed for the collector.
func (a *Allocator) note(b *block) {
	if a.listener != nil && !b.noted {
		b.noted = true
		a.noted = append(a.noted, b)
	}
}

// recount brings free and the shelf up to date.
func (a *Allocator) recount(b *block) {
	free := b.waiting
	if len(a.reserved) > 0 {
		for i := range b.waiting {
			if a.isReserved(b.nth(b.at(i).queued)) {
				free--
			}
		}
	}
	a.setFree(b, free)
	a.mark(b)
}

// take hands out up to num addresses of a block, the one that is free longest
// first, and appends them to out.
//
// Source: ipam_block.go, autoAssign; ipam.go, assignFromExistingBlock. Upstream
// counts the addresses it wanted in the handle, not those it got.
func (a *Allocator) take(out []netip.Addr, b *block, num int, k *Asked) []netip.Addr {
	got, i := 0, int32(0)
	var last uint16
	for i < b.waiting && got < num && b.free > 0 {
		addr := b.nth(b.at(i).queued)
		if a.isReserved(addr) {
			i++
			continue
		}
		last = b.pull(i)
		a.hold(b, last, k)
		a.setFree(b, b.free-1)
		got++
		out = append(out, addr)
	}
	if got > 0 {
		a.count(k.handle, b, num).last = last
		a.wrote(b)
		a.mark(b)
	}
	return out
}

func (a *Allocator) hold(b *block, ordinal uint16, k *Asked) {
	h, s := k.handle, &b.slots[ordinal]
	s.handle, s.since = h, b.seq
	if h.by != k.who {
		if h.claims == 0 {
			h.card.user, h.by = *k.who, nil
			if k.who != &a.who { // which will be another's
				h.by = k.who
			}
		} else if h.card.user != *k.who {
			if b.odd == nil {
				b.odd = map[uint16]user{}
			}
			s.odd, b.odd[ordinal] = true, *k.who
		}
	}
	if b.taken++; b.taken == 1 {
		a.totals.EmptyBlocks--
	}
	h.claims++
	a.totals.InUse++
	if k.host == nil || k.host != b.owner {
		a.lend(b, s, b.lends(k.who.node))
	}
}

// unhold removes the owner of an address, which does not become free.
func (a *Allocator) unhold(b *block, ordinal uint16) {
	s := &b.slots[ordinal]
	a.lend(b, s, false)
	h := s.handle
	if s.handle = nil; s.odd {
		s.odd = false
		delete(b.odd, ordinal)
	}
	if b.taken--; b.taken == 0 {
		a.totals.EmptyBlocks++
	}
	a.totals.InUse--
	h.claims--
	a.drop(h)
}

// assign hands out one certain address, reserved or not.
//
// Source: ipam_block.go, assign.
func (a *Allocator) assign(b *block, addr netip.Addr, k *Asked) error {
	o := b.ordinal(addr)
	if b.slots[o].handle != nil {
		return fmt.Errorf("%s: %w", addr, ErrTaken)
	}
	b.pull(b.index(o))
	if !a.isReserved(addr) {
		a.setFree(b, b.free-1)
	}
	a.hold(b, o, k)
	a.count(k.handle, b, 1).last = o
	a.wrote(b)
	a.mark(b)
	return nil
}

// put releases ordinals, in that order. A block without an owner is deleted with its last
// address.
func (a *Allocator) put(b *block, ordinals ...uint16) {
	for _, o := range ordinals {
		a.unhold(b, o)
		b.push(o)
		if !a.isReserved(b.nth(o)) {
			a.setFree(b, b.free+1)
		}
	}
	a.wrote(b)
	if b.taken == 0 && b.owner == nil {
		a.remove(b)
		return
	}
	a.mark(b)
}
