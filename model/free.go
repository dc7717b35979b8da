package model

import (
	"cmp"
	"encoding/binary"
	"math/bits"
	"net/netip"
	"slices"
)

// FreeMax is where Free stops counting. No scenario holds a million sandboxes,
// and an IPv6 range has more addresses than an int.
const FreeMax = 1 << 20

// Free is the number of further attachments to a network for which policy and the record
// leave addresses. At 0 a refused ADD is correct; above 0 the refusal is spurious. Free is
// a lower bound, so that an oracle built on it raises no false alarm. It saturates at
// FreeMax without walking through the range.
//
// An ADD takes one address of every range, so Free is the least over the ranges
// of the addresses from Start to End that lie in no exclude and are not in use.
// In use is what is claimed in a pool of the network or of a network in the same
// domain (SameDomain), live owner or not; with Overlap also what is reserved or
// claimed in any pool under the same network_name. A range that overlaps others
// of its own network shares its free addresses evenly with them.
//
// With node slices the addresses of a range are those of the node's own pool
// inside it without its first and last address; a node without one has none. A
// node has several if networks that are cut into slices have the same range. The
// record does not show which slice belongs to which network: Free is that of the
// fullest. Node is ignored for other networks without blocks.
//
// For a network with blocks it is what the node could still hand out of its own
// blocks, unclaimed blocks, and blocks of other nodes; see freeBlocks.
//
// It is 0 for an unknown network and for one without ranges.
func Free(networks []Network, s Snapshot, key, node string) int {
	n := NetworkByKey(networks, key)
	if n == nil || len(n.Ranges) == 0 {
		return 0
	}
	if n.Blocks != nil {
		return freeBlocks(networks, s, n, node)
	}
	used := usedIn(networks, s, n, node)
	least := FreeMax
	for i := range n.Ranges {
		r := &n.Ranges[i]
		least = min(least, freeIn(n, r, s.Pools, node, used)/sharers(n, i))
	}
	return least
}

// FreeOf is Free for a pod that asks for certain pools of a network with blocks, by name or
// prefix; none: for any pod.
func FreeOf(networks []Network, s Snapshot, key, node string, pools []string) int {
	n := NetworkByKey(networks, key)
	if n == nil || len(pools) == 0 {
		return Free(networks, s, key, node)
	}
	networks = slices.Clone(networks)
	*NetworkByKey(networks, key) = n.Only(pools, node)
	return Free(networks, s, key, node)
}

// freeIn is how many addresses of a range are free: with node slices those of the fullest
// of the node's pools.
func freeIn(n *Network, r *Range, pools []Pool, node string, used []netip.Addr) int {
	if n.Slice == 0 {
		return min(r.FreeBetween(r.Start, r.End, used), FreeMax)
	}
	least := -1
	for i := range pools {
		p := &pools[i]
		if p.Node != node || p.Network != n.Name || !owns(r.Prefix, true, p) {
			continue
		}
		start, end := usable(p.Range)
		if free := r.FreeBetween(start, end, used); least < 0 || free < least {
			least = free
		}
	}
	return min(max(0, least), FreeMax)
}

// usedIn lists the distinct addresses in use in the domain of n, sorted: if it is local,
// those in use on the node.
//
// Reservations mostly repeat claims, so only those that do not are added: a
// record that is sorted as it should be then needs no sorting at all.
func usedIn(networks []Network, s Snapshot, n *Network, node string) []netip.Addr {
	used := make([]netip.Addr, 0, len(s.Claims)+8)
	pool, counts := -1, false
	for i := range s.Claims {
		c := &s.Claims[i]
		if pool < 0 || s.Pools[pool].Name != c.Pool {
			pool = slices.IndexFunc(s.Pools, func(p Pool) bool { return p.Name == c.Pool })
			counts = pool >= 0 && inDomain(networks, n, &s.Pools[pool]) && (!n.Local || s.Pools[pool].Node == node)
		}
		if counts && n.Spans(c.Addr) {
			used = append(used, c.Addr)
		}
	}
	used = sorted(used)
	if !n.Overlap {
		return used
	}
	claimed := used
	for i := range s.Reservations {
		r := &s.Reservations[i]
		if r.Network != n.Name || !n.Spans(r.Addr) {
			continue
		}
		if _, ok := slices.BinarySearchFunc(claimed, r.Addr, netip.Addr.Compare); !ok {
			used = append(used, r.Addr)
		}
	}
	return sorted(used)
}

func sorted(a []netip.Addr) []netip.Addr {
	if !slices.IsSortedFunc(a, netip.Addr.Compare) {
		slices.SortFunc(a, netip.Addr.Compare)
	}
	return slices.Compact(a)
}

// inDomain reports whether claims of the pool block addresses of n. A pool that
// no network owns any more, because its configuration was changed, blocks only
// networks that guard overlaps.
func inDomain(networks []Network, n *Network, p *Pool) bool {
	if p.Network != n.Name {
		return false
	}
	if n.Overlap || n.Owns(p) {
		return true
	}
	for i := range networks {
		if networks[i].Owns(p) && SameDomain(n, &networks[i], p.Range.Addr()) {
			return true
		}
	}
	return false
}

// sharers is by how many ranges of the network, itself included, the free
// addresses of range i are contended for. Giving each an even share keeps Free
// a lower bound: every address is then counted at most once (Hall's condition).
func sharers(n *Network, i int) int {
	count := 0
	for j := range n.Ranges {
		if n.Slice > 0 && i != j && n.Ranges[i].Prefix.Overlaps(n.Ranges[j].Prefix) {
			count++
		} else if !n.Ranges[j].End.Less(n.Ranges[i].Start) && !n.Ranges[i].End.Less(n.Ranges[j].Start) {
			count++
		}
	}
	return max(count, 1)
}

// FreeBetween counts the addresses of r from start to end that are neither
// excluded nor in used, which is sorted: all of them, up to 2^40 between two excludes. It
// walks over the excludes, not over the addresses.
func (r *Range) FreeBetween(start, end netip.Addr, used []netip.Addr) int {
	if start.Less(r.Start) {
		start = r.Start
	}
	if r.End.Less(end) {
		end = r.End
	}
	if last := LastAddr(r.Prefix); last.Less(end) {
		end = last
	}
	if first := r.Prefix.Masked().Addr(); start.Less(first) {
		start = first
	}
	out := slices.Clone(r.Exclude)
	slices.SortFunc(out, func(a, b netip.Prefix) int {
		return cmp.Or(a.Masked().Addr().Compare(b.Masked().Addr()), cmp.Compare(a.Bits(), b.Bits()))
	})
	free := 0
	for _, x := range out {
		first, last := x.Masked().Addr(), LastAddr(x)
		if last.Less(start) || first.Is4() != start.Is4() {
			continue // below the rest, inside the exclude before it, or of the other family
		}
		if end.Less(first) {
			break
		}
		free += gap(start, first.Prev(), used)
		if start = last.Next(); !start.IsValid() {
			return free
		}
	}
	return free + gap(start, end, used)
}

// gap is the number of addresses from first to last, inclusive, that are not in
// used; 0 if last is below first.
func gap(first, last netip.Addr, used []netip.Addr) int {
	if !first.IsValid() || !last.IsValid() || last.Less(first) {
		return 0
	}
	from, _ := slices.BinarySearchFunc(used, first, netip.Addr.Compare)
	to, found := slices.BinarySearchFunc(used, last, netip.Addr.Compare)
	if found {
		to++
	}
	return max(distance(first, last)+1-(to-from), 0)
}

// distance is last - first, less than 2^40: more than FreeMax by more than any
// record's number of claims, so that subtracting them cannot undercut FreeMax.
func distance(first, last netip.Addr) int {
	const most = 1<<40 - 1
	a, b := first.As16(), last.As16()
	lo, borrow := bits.Sub64(binary.BigEndian.Uint64(b[8:]), binary.BigEndian.Uint64(a[8:]), 0)
	hi, _ := bits.Sub64(binary.BigEndian.Uint64(b[:8]), binary.BigEndian.Uint64(a[:8]), borrow)
	if hi > 0 || lo > most {
		return most
	}
	return int(lo)
}

// usable is what Whereabouts hands out of a node slice: all but its first and
// last address (iphelpers.FirstUsableIP, LastUsableIP, v0.9.4).
func usable(p netip.Prefix) (first, last netip.Addr) {
	return p.Masked().Addr().Next(), LastAddr(p).Prev()
}

// LastAddr is the highest address of a prefix.
func LastAddr(p netip.Prefix) netip.Addr {
	b := p.Masked().Addr().As16()
	skip := p.Bits()
	if p.Addr().Is4() {
		skip += 96
	}
	for i := range b {
		switch {
		case skip <= 8*i:
			b[i] = 0xff
		case skip < 8*i+8:
			b[i] |= 0xff >> (skip - 8*i)
		}
	}
	if p.Addr().Is4() {
		return netip.AddrFrom16(b).Unmap()
	}
	return netip.AddrFrom16(b)
}
