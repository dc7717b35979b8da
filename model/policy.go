package model

import "net/netip"

// Spans reports whether the address lies between the range's ends, excluded or
// not.
func (r Range) Spans(a netip.Addr) bool {
	return r.Prefix.Contains(a) && !a.Less(r.Start) && !r.End.Less(a)
}

// Spans reports whether the address lies in one of the network's ranges,
// excluded or not.
func (n *Network) Spans(a netip.Addr) bool {
	for i := range n.Ranges {
		if n.Ranges[i].Spans(a) {
			return true
		}
	}
	return false
}

// Allows reports whether policy lets the address be handed out in the network.
func (n *Network) Allows(a netip.Addr) bool {
	for i := range n.Ranges {
		if n.Ranges[i].Contains(a) {
			return true
		}
	}
	return false
}

// Owns reports whether claims of the pool count for the network: same
// network_name and the pool of one of its ranges, or a node slice or a block of one.
func (n *Network) Owns(p *Pool) bool {
	if p.Network != n.Name {
		return false
	}
	for i := range n.Ranges {
		if n.Blocks != nil {
			if p.Range.Bits() >= n.Ranges[i].Prefix.Bits() && n.Ranges[i].Prefix.Contains(p.Range.Addr()) {
				return true
			}
		} else if owns(n.Ranges[i].Prefix, n.Slice > 0, p) {
			return true
		}
	}
	return false
}

func owns(prefix netip.Prefix, sliced bool, p *Pool) bool {
	prefix = prefix.Masked()
	if !sliced {
		return p.Node == "" && p.Range.Masked() == prefix
	}
	return p.Node != "" && p.Range.Bits() >= prefix.Bits() && prefix.Contains(p.Range.Addr())
}

// SameDomain reports whether an address held in network a and in network b is one address on one
// layer-2 segment: the networks are equal, or draw it from a range of the same prefix under the
// same network_name (Whereabouts keeps one pool for both), or both guard overlapping ranges under
// the same network_name.
//
// Two networks without overlap protection and with different ranges count as different segments,
// even if the ranges overlap: this is the meaning of switching the protection off. SameDomain is
// symmetric but not transitive.
func SameDomain(a, b *Network, addr netip.Addr) bool {
	if a.Key == b.Key {
		return true
	}
	if a.Name != b.Name {
		return false
	}
	if a.Overlap && b.Overlap {
		return true
	}
	for i := range a.Ranges {
		p := a.Ranges[i].Prefix
		if !p.Contains(addr) {
			continue
		}
		for j := range b.Ranges {
			if b.Ranges[j].Prefix.Masked() == p.Masked() {
				return true
			}
		}
	}
	return false
}

// Wire is the key of the first of the networks that has the address on one wire with
// the network of a key, which may be that one itself; the key if there is no such
// network. Two holders of an address with one wire hold one address.
func Wire(networks []Network, key string, addr netip.Addr) string {
	n := NetworkByKey(networks, key)
	if n == nil {
		return key
	}
	for i := range networks {
		if SameDomain(&networks[i], n, addr) {
			return networks[i].Key
		}
	}
	return key
}

// NetworkByKey finds a network, or nil.
func NetworkByKey(networks []Network, key string) *Network {
	for i := range networks {
		if networks[i].Key == key {
			return &networks[i]
		}
	}
	return nil
}
