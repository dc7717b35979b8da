package route

import (
	"net/netip"
	"slices"

	"ipamsim/model"
)

// observeNodes takes over the machines, and the routers between them. A node
// without an address is not part of the network yet.
func (p *Plane) observeNodes(nodes []Node) {
	if slices.Equal(nodes, p.facts.Nodes) {
		return
	}
	p.facts.Nodes = slices.Clone(nodes)
	nodes = slices.DeleteFunc(slices.Clone(nodes), func(n Node) bool { return !n.Addr.IsValid() })
	p.rewired, p.reread, p.recount, p.losses.all = true, true, true, true
	routers := p.fabric.Routers(nodes)
	for i := range p.t.Forwarders {
		p.t.Forwarders[i].Gone = true
	}
	for i, r := range routers {
		at := p.place(r.Name)
		p.t.Forwarders[at].Gone, p.t.Forwarders[at].Up = false, true
		p.t.Own(at, []netip.Addr{r.Addr.Addr()})
		if p.fabric.Topology == ToR {
			if p.speakers[at] == nil {
				p.speakers[at] = &speaker{at: at}
			}
			s := p.speakers[at]
			s.ready, s.present, s.up, s.bird = true, true, true, true
			s.addr, s.id, s.as = r.Addr, RouterOf(r.Addr.Addr()), p.fabric.asOf(false, i)
		}
	}
	p.linkRouters(routers)
	for i, n := range nodes {
		at := p.place(n.Name)
		if p.speakers[at] == nil {
			p.speakers[at] = &speaker{at: at, node: true}
		}
		p.observeNode(p.speakers[at], n, p.fabric.asOf(true, i))
	}
	for i, s := range p.speakers {
		if s != nil && p.t.Forwarders[i].Gone {
			p.leave(s)
		}
	}
}

// place finds or makes the place of a name.
func (p *Plane) place(name string) int {
	if i, ok := p.t.Find(name); ok {
		return i
	}
	p.speakers, p.linked, p.felix = append(p.speakers, nil), append(p.linked, nil), append(p.felix, kept{})
	return p.t.Add(name)
}

func (p *Plane) observeNode(s *speaker, n Node, as uint32) {
	pl := &p.t.Forwarders[s.at]
	boots := n.Up && !s.up
	runs := n.Up && n.BIRD
	if boots || runs && (!s.up || !s.bird) {
		s.started = p.now
	}
	if boots {
		p.forget(s) // a kernel that just booted has no routes
	}
	felixStarts := n.Up && n.Felix && !s.felix
	s.present, s.up, s.bird, s.felix = true, n.Up, runs, n.Up && n.Felix
	s.addr, s.id, s.as, s.tunnel = n.Addr, n.routerID(), as, n.Tunnel
	s.reflect = slices.Contains(p.fabric.Reflectors, n.Name)
	s.noDefault = slices.Contains(p.fabric.NoDefaultRoute, n.Name) || slices.Contains(p.fabric.NoDefaultRoute, "*")
	pl.Gone, pl.Up = false, n.Up
	own := []netip.Addr{n.Addr.Addr()}
	if n.Tunnel.IsValid() {
		own = append(own, n.Tunnel)
	}
	if !slices.Equal(own, pl.Addrs()) {
		p.tunnelMoved(s, pl.Addrs(), own)
		p.t.Own(s.at, own)
	}
	p.touchShares()
	if felixStarts {
		p.felix[s.at] = kept{}
	}
	gateway := netip.Addr{}
	if !s.noDefault {
		gateway = p.gateway(s)
	}
	p.link(s, gateway)
}

// tunnelMoved keeps the addresses of tunnel devices, which BIRD's direct protocol
// brings in.
func (p *Plane) tunnelMoved(s *speaker, before, after []netip.Addr) {
	for _, a := range before {
		p.withdraw(s.at, fromDirect, netip.PrefixFrom(a, a.BitLen()))
	}
	for _, a := range after[1:] {
		p.originate(s.at, fromDirect, netip.PrefixFrom(a, a.BitLen()))
	}
}

// gateway returns the router of a node's subnet, or the zero value if the node itself has the
// subnet's first address.
func (p *Plane) gateway(s *speaker) netip.Addr {
	a := s.addr.Masked().Addr().Next()
	if a == s.addr.Addr() {
		return netip.Addr{}
	}
	return a
}

// leave removes a node from the cluster: its peers drop its sessions immediately with the new
// configuration.
func (p *Plane) leave(s *speaker) {
	if !s.present {
		return
	}
	s.present, s.up, s.bird, s.felix, s.ready = false, false, false, false, false
	p.t.Forwarders[s.at].Up = false
	for _, dst := range sortedPrefixes(p.originsOf(s.at)) {
		p.origins[dst] = slices.DeleteFunc(p.origins[dst], func(o origin) bool { return o.at == s.at })
		p.moved[dst] = true
	}
	s.blocks, s.own = nil, nil
	delete(p.affinities, p.t.Forwarders[s.at].Name)
	p.forget(s)
	p.relink(s.at, nil)
}

func (p *Plane) originsOf(at int) map[netip.Prefix]bool {
	out := map[netip.Prefix]bool{}
	for dst, os := range p.origins {
		if slices.ContainsFunc(os, func(o origin) bool { return o.at == at }) {
			out[dst] = true
		}
	}
	return out
}

// forget empties what daemons had put into a node's kernel.
func (p *Plane) forget(s *speaker) {
	for dst, r := range p.ribs {
		if _, ok := r[s.at]; ok {
			delete(r, s.at)
			p.touched[dst] = true
		}
	}
	for dst := range p.felix[s.at] {
		p.touched[dst] = true
	}
	p.felix[s.at] = kept{}
	s.ready = false
}

func (p *Plane) observeDown(down []Session) {
	if !slices.Equal(down, p.facts.Down) {
		p.facts.Down, p.rewired = slices.Clone(down), true
	}
}

// observePools takes over the pools, which are part of every filter.
func (p *Plane) observePools(pools []model.IPPool) {
	if slices.EqualFunc(pools, p.facts.Pools, samePool) {
		return
	}
	p.facts.Pools = slices.Clone(pools)
	apply := func() {
		p.pools = p.facts.Pools
		for dst := range p.origins {
			p.moved[dst] = true
		}
		p.reshare()
		p.touchShares()
	}
	if p.pools == nil {
		apply()
	} else {
		p.after(Reload, apply)
	}
}

// samePool compares what routes depend on.
func samePool(a, b model.IPPool) bool {
	return a.Prefix == b.Prefix && a.NoExport == b.NoExport && a.IPIP == b.IPIP && a.VXLAN == b.VXLAN
}

func (p *Plane) observeBlocks(blocks []Block) {
	if slices.EqualFunc(blocks, p.facts.Blocks, func(a, b Block) bool {
		return a.Prefix == b.Prefix && a.Node == b.Node && slices.Equal(a.Borrowed, b.Borrowed)
	}) {
		return
	}
	p.facts.Blocks = slices.Clone(blocks)
	p.reshare()
}

// reshare passes every Felix the changes of blocks and pools.
func (p *Plane) reshare() {
	next := shares(p.pools, p.facts.Blocks)
	for dst, s := range p.shares {
		if next[dst] != s {
			p.touched[dst] = true
		}
	}
	for dst, s := range next {
		if old, ok := p.shares[dst]; !ok || old != s {
			p.touched[dst] = true
		}
	}
	p.shares = next
}

func (p *Plane) touchShares() {
	for dst := range p.shares {
		p.touched[dst] = true
	}
}
