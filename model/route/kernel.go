package route

import (
	"net/netip"
	"slices"

	"ipamsim/model/route/fib"
)

// route is the route to dst in the place's kernel, or nil. A daemon does not replace routes from
// the kernel itself and from pods' devices.
func (p *Plane) route(i int, dst netip.Prefix) *fib.Route {
	if r := p.linked[i][dst]; r != nil {
		return r
	}
	s := p.speakers[i]
	if s == nil || !s.present {
		return nil
	}
	if dev, ok := p.devs[local{i, dst.Addr()}]; ok && dst.IsSingleIP() {
		return &fib.Route{Dst: dst, Dev: dev}
	}
	if s.node {
		if s.felix {
			p.felix[i].put(dst, p.vxlan(s, dst))
		}
		if r := p.felix[i][dst]; r != nil {
			return r
		}
	}
	return p.bird(s, dst)
}

// kept are routes that a daemon left in the kernel.
type kept map[netip.Prefix]*fib.Route

func (k kept) put(dst netip.Prefix, r *fib.Route) {
	if r == nil {
		delete(k, dst)
	} else {
		k[dst] = r
	}
}

// bird is the route that the place's BIRD writes for dst, or nil: its best path,
// with every path that is as good merged into it.
func (p *Plane) bird(s *speaker, dst netip.Prefix) *fib.Route {
	paths := p.ribs[dst][s.at]
	if len(paths) == 0 {
		return nil
	}
	pool, ok := programs(p.pools, dst)
	if s.node && !ok {
		return nil
	}
	best := &paths[0]
	if best.own() {
		if best.source == fromStatic {
			return &fib.Route{Dst: dst, Type: fib.Blackhole, Proto: fib.BIRD}
		}
		return nil
	}
	r := &fib.Route{Dst: dst, Proto: fib.BIRD, Dev: p.fabric.device()}
	if s.node && pool != nil && dst.Addr().Is4() && (pool.IPIP == always || pool.IPIP == crossSubnet && !s.addr.Contains(best.hop)) {
		r.Dev, r.OnLink, r.Tunnel = "tunl0", true, true
	} else if !best.via.IsValid() {
		return &fib.Route{Dst: dst, Type: fib.Refuse, Proto: fib.BIRD}
	}
	for i := range paths {
		q := &paths[i]
		if q.own() || q.alike(best) != 0 {
			continue
		}
		hop := q.via
		if r.Tunnel {
			hop = q.hop
		}
		if !slices.Contains(r.Via, hop) {
			r.Via = append(r.Via, hop)
		}
	}
	slices.SortFunc(r.Via, netip.Addr.Compare)
	return r
}

// link gives a node the routes that are there without any daemon: its subnet, its
// default route, and in IPv6 its own address on Felix's device, which IPv4 has in another
// table.
func (p *Plane) link(s *speaker, gateway netip.Addr) {
	addr, dev := s.addr, p.fabric.device()
	routes := kept{addr.Masked(): connected(addr, dev)}
	if s.tunnel.Is6() && s.felix {
		own := netip.PrefixFrom(s.tunnel, s.tunnel.BitLen())
		routes[own] = connected(own, vxlanDevice(own))
	}
	if gateway.IsValid() {
		dst := netip.PrefixFrom(unspecified(addr.Addr()), 0)
		routes[dst] = &fib.Route{Dst: dst, Via: []netip.Addr{gateway}, Dev: dev, OnLink: true}
	}
	p.relink(s.at, routes)
}

// linkRouters gives every router the subnets of the others.
func (p *Plane) linkRouters(routers []Router) {
	for _, r := range routers {
		routes := kept{r.Addr.Masked(): connected(r.Addr, p.fabric.device())}
		for _, o := range routers {
			if o != r {
				routes[o.Addr.Masked()] = &fib.Route{Dst: o.Addr.Masked(), Via: []netip.Addr{o.Addr.Addr()}, Dev: "uplink", OnLink: true}
			}
		}
		at, _ := p.t.Find(r.Name)
		p.relink(at, routes)
	}
}

// connected is the route to the subnet of an interface's address. Of IPv6 the kernel
// notes no source.
func connected(addr netip.Prefix, dev string) *fib.Route {
	r := &fib.Route{Dst: addr.Masked(), Dev: dev, Proto: fib.Kernel}
	if addr.Addr().Is4() {
		r.Src = addr.Addr()
	}
	return r
}

// unspecified is 0.0.0.0 or ::, as a is.
func unspecified(a netip.Addr) netip.Addr {
	if a.Is4() {
		return netip.IPv4Unspecified()
	}
	return netip.IPv6Unspecified()
}

func (p *Plane) relink(i int, routes kept) {
	for dst := range p.linked[i] {
		p.touched[dst] = true
	}
	p.linked[i] = routes
	for dst := range routes {
		p.touched[dst] = true
	}
}
