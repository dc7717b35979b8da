package alias

import (
	"maps"
	"math/big"
	"math/bits"
	"net/netip"
	"slices"
)

// Move gives the ranges of pools, and all that lies in them, other addresses; taken are
// those that they have then.
func (a *Aliases) Move(ranges []netip.Prefix) (taken []netip.Prefix) {
	a.pref = move(ranges)
	for _, m := range a.pref {
		taken = append(taken, m.to)
	}
	return taken
}

// move finds another place for each range, of the same length: those that lie in
// another one go with it.
func move(all []netip.Prefix) []moved {
	slices.SortFunc(all, func(a, b netip.Prefix) int {
		if a.Bits() != b.Bits() {
			return a.Bits() - b.Bits()
		}
		return a.Addr().Compare(b.Addr())
	})
	var out []moved
	next := map[bool]netip.Addr{true: netip.MustParseAddr("10.0.0.0"), false: netip.MustParseAddr("fd10::")}
	for _, p := range all {
		if slices.ContainsFunc(out, func(m moved) bool { return m.from.Overlaps(p) }) {
			continue
		}
		v4 := p.Addr().Is4()
		to, err := next[v4].Prefix(p.Bits())
		if err != nil || !to.Contains(next[v4]) {
			to = p
		}
		out = append(out, moved{p, to})
		next[v4] = after(to)
	}
	return out
}

// after is the first address behind a range.
func after(p netip.Prefix) netip.Addr {
	a := p.Masked().Addr().AsSlice()
	for i := range a { // its last address
		n := min(max(p.Bits()-8*i, 0), 8)
		a[i] |= ^(byte(0xff) << (8 - n))
	}
	last, _ := netip.AddrFromSlice(a)
	return last.Next()
}

// Renumber gives nodes other addresses, in subnets as they share them now, outside of what
// is taken. All are addresses with the lengths of their subnets, of one family. It returns
// the lengths of the new subnets, by the old ones.
func (a *Aliases) Renumber(nodes []netip.Prefix, taken []netip.Prefix) map[netip.Prefix]int {
	subnets := map[netip.Prefix][]netip.Addr{}
	for _, p := range nodes {
		subnets[p.Masked()] = append(subnets[p.Masked()], p.Addr())
	}
	lengths := map[netip.Prefix]int{}
	var next netip.Addr
	for _, p := range slices.SortedFunc(maps.Keys(subnets), netip.Prefix.Compare) {
		if !next.IsValid() {
			next = free(p.Addr().Is4(), taken)
		}
		hosts := subnets[p]
		slices.SortFunc(hosts, netip.Addr.Compare)
		hosts = slices.Compact(hosts)
		size := max(8, bits.Len(uint(len(hosts)+2))) // the first address is the router's
		lengths[p] = next.BitLen() - size
		for i, h := range hosts {
			n := uint64(i + 2)
			if h == Offset(p.Addr(), 1) {
				n = 1
			}
			a.addr[h] = Offset(next, n)
		}
		next = Offset(next, 1<<size)
	}
	return lengths
}

// nodeRanges are where the nodes of an anonymised scenario may lie: the first that no
// pool touches.
var nodeRanges = map[bool][]string{
	true:  {"100.64.0.0/10", "198.18.0.0/15", "172.16.0.0/12", "10.0.0.0/8", "192.168.0.0/16", "11.0.0.0/8"},
	false: {"fd64::/16", "fd65::/16", "fd66::/16"},
}

func free(v4 bool, taken []netip.Prefix) netip.Addr {
	for _, s := range nodeRanges[v4] {
		p := netip.MustParsePrefix(s)
		if !slices.ContainsFunc(taken, p.Overlaps) {
			return p.Addr()
		}
	}
	return netip.MustParsePrefix(nodeRanges[v4][0]).Addr()
}

// Offset is the address that lies n behind another, not valid if there is none.
func Offset(a netip.Addr, n uint64) netip.Addr {
	sum := new(big.Int).Add(new(big.Int).SetBytes(a.AsSlice()), new(big.Int).SetUint64(n))
	b := make([]byte, a.BitLen()/8)
	if sum.BitLen() > a.BitLen() {
		return netip.Addr{}
	}
	out, _ := netip.AddrFromSlice(sum.FillBytes(b))
	return out
}
