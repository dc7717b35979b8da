package route

import (
	"crypto/sha256"
	"net/netip"
)

// routerID is the node's, which BIRD compares where two paths are as good.
//
// Source: bird.cfg.template and bird6.cfg.template, "router id".
func (n *Node) routerID() netip.Addr {
	switch {
	case n.ID.IsValid():
		return n.ID
	case n.Addr.Addr().Is4():
		return n.Addr.Addr()
	}
	return RouterID(n.Name)
}

// RouterID is the router id of a node without an IPv4 address whose calico-node has
// CALICO_ROUTER_ID=hash: otherwise its template renders none, and BIRD does not start.
//
// Source: confd/pkg/resource/template/template_funcs.go, hashToIPv4.
func RouterID(node string) netip.Addr {
	h := sha256.Sum256([]byte(node))
	if h[0] > 223 {
		h[0] -= 32
	}
	return netip.AddrFrom4([4]byte(h[:4]))
}

// RouterOf returns the router ID of a router with that address. In IPv6 it is the last four
// octets, because nothing configures one.
func RouterOf(a netip.Addr) netip.Addr {
	if a.Is4() {
		return a
	}
	b := a.As16()
	return netip.AddrFrom4([4]byte(b[12:]))
}
