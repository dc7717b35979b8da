package calico

import (
	"net/netip"
	"slices"

	"ipamsim/model"
)

// span is a range of addresses, both ends included.
type span struct{ first, last netip.Addr }

// Reserve replaces the union of all IPReservations. Reserved addresses are assigned only on an
// explicit request; assigned ones stay assigned.
func (a *Allocator) Reserve(prefixes ...netip.Prefix) {
	a.reserved = nil
	sorted := slices.Clone(prefixes)
	slices.SortFunc(sorted, func(x, y netip.Prefix) int { return x.Masked().Addr().Compare(y.Masked().Addr()) })
	for _, p := range sorted {
		s := span{p.Masked().Addr(), model.LastAddr(p)}
		if n := len(a.reserved) - 1; n >= 0 && a.reserved[n].touches(s) {
			if a.reserved[n].last.Less(s.last) {
				a.reserved[n].last = s.last
			}
			continue
		}
		a.reserved = append(a.reserved, s)
	}
	for _, b := range a.sorted {
		a.recount(b)
	}
}

// touches reports whether a span that does not begin before s overlaps it or directly follows
// it.
func (s span) touches(t span) bool {
	next := s.last.Next()
	return s.last.Is4() == t.first.Is4() && (!next.IsValid() || !next.Less(t.first))
}

// reservation is the span that begins last before or at an address.
func (a *Allocator) reservation(addr netip.Addr) *span {
	i, found := slices.BinarySearchFunc(a.reserved, addr, func(s span, x netip.Addr) int { return s.first.Compare(x) })
	if found {
		return &a.reserved[i]
	}
	if i == 0 || a.reserved[i-1].last.Less(addr) || a.reserved[i-1].last.Is4() != addr.Is4() {
		return nil
	}
	return &a.reserved[i-1]
}

// isReserved reports whether an address is not for automatic hands.
func (a *Allocator) isReserved(addr netip.Addr) bool {
	return len(a.reserved) > 0 && a.reservation(addr) != nil
}

// allReserved is the span that covers a whole block, or nil.
func (a *Allocator) allReserved(p netip.Prefix) *span {
	if len(a.reserved) == 0 {
		return nil
	}
	if s := a.reservation(p.Addr()); s != nil && !s.last.Less(model.LastAddr(p)) {
		return s
	}
	return nil
}
