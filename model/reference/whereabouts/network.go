package whereabouts

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math/bits"
	"net/netip"
	"slices"
	"strings"

	"ipamsim/model"
)

// Network is a network attachment's configuration, ready for use. It does not
// change; a new configuration is a new Network.
type Network struct {
	key     string // namespace/name
	name    string // network_name
	overlap bool
	slice   int
	ranges  []addresses
}

// addresses are the assignable addresses of one range.
type addresses struct {
	prefix netip.Prefix
	pool   string // its name, where there are no slices
	span
	exclude []span // sorted, none touches another
}

// span is a row of addresses, as offsets from the start of their range, both
// inclusive.
type span struct{ first, last uint64 }

// offsetsMax is where upstream's decimal offsets no longer fit into an int64, as
// which it reads them.
const offsetsMax = 1<<63 - 1

// NewNetwork takes a policy as upstream's plugin takes its configuration: the
// first and the last address of a range are never handed out, and Start and End
// count where they lie in between, otherwise not (the zero Addr never does).
// Excludes may overlap, and lie anywhere.
//
// Of the key, NAMESPACE/NAME, the name is the configuration's as well: node slices
// of a network without a network_name are called after it.
//
// Source: pkg/iphelpers, GetIPRange (v0.9.4).
func NewNetwork(n model.Network) (*Network, error) {
	out := &Network{key: n.Key, name: n.Name, overlap: n.Overlap, slice: n.Slice}
	if n.Blocks != nil {
		return nil, fmt.Errorf("whereabouts: network %s: has blocks: %w", n.Key, ErrNotModelled)
	}
	if n.Slice > 0 && (len(n.Ranges) != 1 || !n.Ranges[0].Prefix.Addr().Is4() || n.Slice < n.Ranges[0].Prefix.Bits() || n.Slice > 30) {
		return nil, fmt.Errorf("whereabouts: network %s: slices of /%d, of other than one IPv4 range that holds them: %w", n.Key, n.Slice, ErrNotModelled)
	}
	for _, r := range n.Ranges {
		a, err := newAddresses(r)
		if err != nil {
			return nil, fmt.Errorf("whereabouts: network %s: %w", n.Key, err)
		}
		if a.pool = poolName(n.Name, "", a.prefix); strings.HasPrefix(a.pool, "-") {
			return nil, fmt.Errorf("whereabouts: network %s: range %s: its pool has no valid name: %w", n.Key, a.prefix, ErrNotModelled)
		}
		out.ranges = append(out.ranges, a)
	}
	return out, nil
}

func newAddresses(r model.Range) (addresses, error) {
	p := r.Prefix.Masked()
	a := addresses{prefix: p}
	if !p.IsValid() || p.Addr().Is4In6() || p.Bits() == 0 || p.Addr().BitLen()-p.Bits() < 2 {
		return a, fmt.Errorf("range %s: %w", r.Prefix, ErrNotModelled)
	}
	first, last := p.Addr().Next(), model.LastAddr(p).Prev()
	usable := func(x netip.Addr) bool { return p.Contains(x) && !x.Less(first) && !last.Less(x) }
	start, end := first, last
	if usable(r.Start) {
		start = r.Start
	}
	if usable(r.End) {
		end = r.End
	}
	var ok bool
	if a.first, ok = a.offset(start); !ok {
		return a, fmt.Errorf("range %s from %s: %w", p, start, ErrNotModelled)
	}
	if a.last, ok = a.offset(end); !ok {
		a.last = offsetsMax
	}
	for _, x := range r.Exclude {
		a.exclude = append(a.exclude, a.within(x)...)
	}
	slices.SortFunc(a.exclude, func(x, y span) int { return cmp.Compare(x.first, y.first) })
	a.exclude = merged(a.exclude)
	return a, nil
}

// within is the part of x that is in the range; empty if there is none.
func (a *addresses) within(x netip.Prefix) []span {
	x = x.Masked()
	switch {
	case !x.Overlaps(a.prefix):
		return nil
	case x.Bits() <= a.prefix.Bits():
		return []span{{0, offsetsMax}}
	}
	first, ok := a.offset(x.Addr())
	if !ok {
		return nil
	}
	last, ok := a.offset(model.LastAddr(x))
	if !ok {
		last = offsetsMax
	}
	return []span{{first, last}}
}

func merged(all []span) []span {
	var out []span
	for _, s := range all {
		if n := len(out) - 1; n >= 0 && s.first <= out[n].last+1 {
			out[n].last = max(out[n].last, s.last)
			continue
		}
		out = append(out, s)
	}
	return out
}

// offset is how far x lies behind the start of the range; false if that is more
// than offsetsMax.
func (a *addresses) offset(x netip.Addr) (uint64, bool) { return offset(a.prefix.Addr(), x) }

func offset(base, x netip.Addr) (uint64, bool) {
	b, c := base.As16(), x.As16()
	lo, borrow := bits.Sub64(binary.BigEndian.Uint64(c[8:]), binary.BigEndian.Uint64(b[8:]), 0)
	hi, _ := bits.Sub64(binary.BigEndian.Uint64(c[:8]), binary.BigEndian.Uint64(b[:8]), borrow)
	return lo, hi == 0 && lo <= offsetsMax
}

// at is the address n behind base.
func at(base netip.Addr, n uint64) netip.Addr {
	b := base.As16()
	lo, carry := bits.Add64(binary.BigEndian.Uint64(b[8:]), n, 0)
	binary.BigEndian.PutUint64(b[8:], lo)
	binary.BigEndian.PutUint64(b[:8], binary.BigEndian.Uint64(b[:8])+carry)
	if base.Is4() {
		return netip.AddrFrom16(b).Unmap()
	}
	return netip.AddrFrom16(b)
}

// free is the lowest address of the range that is neither excluded, nor in use in its pool, nor in
// taken, which is short; ok is false if there is none.
//
// Source: pkg/allocate, IterateForAssignment (v0.9.4), which tries one by one.
func (a *addresses) free(u *used, taken []uint64) (uint64, bool) {
	x, i := a.first, 0
	for x <= a.last {
		for i < len(a.exclude) && a.exclude[i].last < x {
			i++
		}
		switch {
		case i < len(a.exclude) && a.exclude[i].first <= x:
			x = a.exclude[i].last + 1
		case slices.Contains(taken, x):
			x++
		default:
			y := u.next(x)
			if y == x {
				return x, true
			}
			x = y
		}
	}
	return 0, false
}
