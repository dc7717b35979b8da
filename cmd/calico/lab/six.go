package main

import (
	"net/netip"
	"slices"

	"ipamsim/model/route"
)

// embedded is where the IPv4 addresses of the topologies lie in IPv6, as their last four
// octets.
var embedded = netip.MustParseAddr("fd64::").As16()

func six(a netip.Addr) netip.Addr {
	if !a.IsValid() {
		return a
	}
	in, four := embedded, a.As4()
	copy(in[12:], four[:])
	return netip.AddrFrom16(in)
}

func sixPrefix(p netip.Prefix) netip.Prefix {
	return netip.PrefixFrom(six(p.Addr()), p.Bits()+96)
}

// six is the same topology in IPv6, of nodes that have IPv4 addresses too: their router
// ids.
func (t topology) six() topology {
	t.id, t.title = t.id+"v6", t.title+", IPv6"
	if tor := &t.fabric.TopOfRack; tor.MaxLength > 0 {
		tor.MaxLength, tor.MaxLength6 = 0, tor.MaxLength+96
	}
	f := &t.facts
	f.Nodes, f.Local, f.Affinities = slices.Clone(f.Nodes), slices.Clone(f.Local), slices.Clone(f.Affinities)
	f.Pools, f.Blocks = slices.Clone(f.Pools), slices.Clone(f.Blocks)
	for i := range f.Nodes {
		n := &f.Nodes[i]
		n.ID, n.Addr, n.Tunnel = n.Addr.Addr(), sixPrefix(n.Addr), six(n.Tunnel)
	}
	for i := range f.Local {
		f.Local[i].Addr = six(f.Local[i].Addr)
	}
	for i := range f.Affinities {
		f.Affinities[i].Block = sixPrefix(f.Affinities[i].Block)
	}
	for i := range f.Pools {
		f.Pools[i].Prefix = sixPrefix(f.Pools[i].Prefix)
	}
	for i := range f.Blocks {
		b := &f.Blocks[i]
		b.Prefix, b.Borrowed = sixPrefix(b.Prefix), slices.Clone(b.Borrowed)
		for j := range b.Borrowed {
			b.Borrowed[j].Addr = six(b.Borrowed[j].Addr)
		}
	}
	return t
}

// isSix reports whether the topology is one of IPv6.
func isSix(f *route.Facts) bool { return f.Pools[0].Prefix.Addr().Is6() }

// family is what differs between the address families.
type family struct {
	number string // of keys: 4 or 6
	bird   string // the program, and its files
}

var families = [...]family{{"4", "bird"}, {"6", "bird6"}}

func familyOf(a netip.Addr) family {
	if a.Is4() {
		return families[0]
	}
	return families[1]
}
