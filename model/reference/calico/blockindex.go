package calico

import (
	"net/netip"
	"slices"

	"ipamsim/model"
)

// size is a kind of blocks: upstream looks them up by prefix, length included, so
// that blocks of different lengths do not see each other.
type size struct {
	v6   bool
	bits int
}

// blockIndex holds the blocks of one size so that the two searches of upstream, which
// walk a pool block by block from a node's own place in it and begin again at its
// start, are binary searches: for a block that does not exist, and for one with a
// free address.
type blockIndex struct {
	runs []span   // blocks that exist, adjacent ones joined; sorted
	open []*block // blocks with a free address; sorted
}

func (a *Allocator) shelf(p netip.Prefix) *blockIndex {
	s := size{p.Addr().Is6(), p.Bits()}
	if a.sizes[s] == nil {
		a.sizes[s] = &blockIndex{}
	}
	return a.sizes[s]
}

// run is the place of the run that begins last before or at an address, or -1.
func (s *blockIndex) run(addr netip.Addr) int {
	i, found := slices.BinarySearchFunc(s.runs, addr, func(r span, x netip.Addr) int { return r.first.Compare(x) })
	if !found {
		i--
	}
	return i
}

func (s *blockIndex) add(p netip.Prefix) {
	r := span{p.Addr(), model.LastAddr(p)}
	i := s.run(r.first)
	before := i >= 0 && s.runs[i].last.Next() == r.first
	after := i+1 < len(s.runs) && r.last.Next() == s.runs[i+1].first
	switch {
	case before && after:
		s.runs[i].last = s.runs[i+1].last
		s.runs = slices.Delete(s.runs, i+1, i+2)
	case before:
		s.runs[i].last = r.last
	case after:
		s.runs[i+1].first = r.first
	default:
		s.runs = slices.Insert(s.runs, i+1, r)
	}
}

func (s *blockIndex) drop(b *block) {
	first, last := b.prefix.Addr(), model.LastAddr(b.prefix)
	i := s.run(first)
	var rest []span
	if r := s.runs[i]; r.first != first {
		rest = append(rest, span{r.first, first.Prev()})
	}
	if r := s.runs[i]; r.last != last {
		rest = append(rest, span{last.Next(), r.last})
	}
	s.runs = slices.Replace(s.runs, i, i+1, rest...)
}

// mark keeps a block among the open ones as long as it has a free address.
func (a *Allocator) mark(b *block) {
	if b.open == (b.free > 0) {
		return
	}
	b.open = !b.open
	s := a.shelf(b.prefix)
	i, _ := s.place(b.prefix.Addr())
	if b.open {
		s.open = slices.Insert(s.open, i, b)
	} else {
		s.open = slices.Delete(s.open, i, i+1)
	}
}

func (s *blockIndex) place(addr netip.Addr) (int, bool) {
	return slices.BinarySearchFunc(s.open, addr, func(b *block, x netip.Addr) int { return b.prefix.Addr().Compare(x) })
}

// any reports whether a block overlaps a pool.
func (s *blockIndex) any(p netip.Prefix) bool {
	i := s.run(model.LastAddr(p))
	return i >= 0 && !s.runs[i].last.Less(p.Addr())
}

// firstOpen is the first block with a free address from one address to another.
func (s *blockIndex) firstOpen(from, to netip.Addr) *block {
	i, _ := s.place(from)
	if i < len(s.open) && !to.Less(s.open[i].prefix.Addr()) {
		return s.open[i]
	}
	return nil
}

// firstGap returns the first block between two addresses that does not exist and is not
// entirely reserved. from is the first address of a block.
func (a *Allocator) firstGap(s *blockIndex, from, to netip.Addr, bits int) (netip.Prefix, bool) {
	for from.IsValid() && !to.Less(from) {
		p := netip.PrefixFrom(from, bits)
		if i := s.run(from); i >= 0 && !s.runs[i].last.Less(from) {
			from = s.runs[i].last.Next()
		} else if r := a.allReserved(p); r != nil {
			// To the block that the end of the reservation lies in, or behind it.
			last := netip.PrefixFrom(r.last, bits).Masked()
			if from = last.Addr(); a.allReserved(last) != nil {
				from = model.LastAddr(last).Next()
			}
		} else {
			return p, true
		}
	}
	return netip.Prefix{}, false
}
