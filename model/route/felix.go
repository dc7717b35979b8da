package route

import (
	"net/netip"

	"ipamsim/model"
	"ipamsim/model/route/fib"
)

// share is Felix's data about one destination of a VXLAN pool: a block and its owner, or a borrowed
// address and its holder.
type share struct {
	node     string
	borrowed bool
}

// shares are the destinations of all VXLAN pools. Felix makes them of blocks,
// not of affinities: a stale affinity is nothing to it.
//
// Source: felix/calc/l3_route_resolver.go, routesFromBlock.
func shares(pools []model.IPPool, blocks []Block) map[netip.Prefix]share {
	out := map[netip.Prefix]share{}
	for _, b := range blocks {
		if pool, _ := programs(pools, b.Prefix); pool == nil || !encapsulates(pool.VXLAN) {
			continue
		}
		for _, a := range b.Borrowed {
			out[netip.PrefixFrom(a.Addr, a.Addr.BitLen())] = share{a.Node, true}
		}
		if b.Node != "" {
			// After the addresses: in a block of one address the borrower is lost.
			out[b.Prefix.Masked()] = share{node: b.Node}
		}
	}
	return out
}

// vxlanDevice is Felix's device for packets to dst.
// Source: felix/dataplane/linux/dataplanedefs.
func vxlanDevice(dst netip.Prefix) string {
	family := ""
	if dst.Addr().Is6() {
		family = "-v6"
	}
	return "vxlan" + family + ".calico"
}

// vxlan is the route that Felix on s programs to a destination of a VXLAN pool, or nil: a blackhole
// for a block of its own; for a remote destination the other node's address if the pool allows that
// on one subnet, otherwise its tunnel.
//
// Source: felix/calc/l3_route_resolver.go (flush, nodeInOurSubnet);
// felix/dataplane/linux/route_mgr.go (routeIsLocalBlock, noEncapRoute) and
// vxlan_mgr.go (route).
func (p *Plane) vxlan(s *speaker, dst netip.Prefix) *fib.Route {
	sh, ok := p.shares[dst]
	if !ok {
		return nil
	}
	pool, _ := programs(p.pools, dst)
	if pool == nil || !encapsulates(pool.VXLAN) {
		return nil
	}
	if sh.node == p.t.Forwarders[s.at].Name {
		if sh.borrowed || dst.IsSingleIP() {
			return nil
		}
		return &fib.Route{Dst: dst, Type: fib.Blackhole, Proto: fib.Felix}
	}
	i, ok := p.t.Find(sh.node)
	if !ok || p.speakers[i] == nil || !p.speakers[i].present {
		return nil
	}
	other := p.speakers[i]
	if (pool.VXLAN == crossSubnet || pool.IPIP == crossSubnet) && s.addr.Contains(other.addr.Addr()) {
		return &fib.Route{Dst: dst, Via: []netip.Addr{other.addr.Addr()}, Dev: p.fabric.device(), Proto: fib.Felix, OnLink: true}
	}
	if !other.tunnel.IsValid() {
		return nil
	}
	return &fib.Route{Dst: dst, Via: []netip.Addr{other.tunnel}, Dev: vxlanDevice(dst), OnLink: true, Tunnel: true}
}
