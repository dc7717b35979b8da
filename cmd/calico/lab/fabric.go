package main

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"

	"ipamsim/model"
	"ipamsim/model/route"
)

// spineSubnet connects the routers with each other; the first has its first
// address. No node and no pod has an address in it.
var (
	spineSubnet  = netip.MustParsePrefix("10.255.255.0/24")
	spineSubnet6 = sixPrefix(spineSubnet)
)

// The switch of the routers, and the one of each subnet by its prefix.
const spineSegment = "spine"

// lay makes machines of a topology: the nodes, and the router of each subnet. No
// daemon runs on a node whose BIRD does not, and a node without power is nothing.
func lay(t topology, c confd) []*machine {
	l := layer{topology: t, confd: c, routers: t.fabric.Routers(t.facts.Nodes)}
	l.cluster = cluster{as: l.as(""), pools: t.facts.Pools, affinities: t.facts.Affinities}
	l.cluster.mesh = t.fabric.Topology == "" || t.fabric.Topology == route.Mesh || t.fabric.TopOfRack.Mesh
	for _, n := range t.facts.Nodes {
		if n.Up {
			l.cluster.speakers = append(l.cluster.speakers, l.speaker(n))
		}
	}
	var machines []*machine
	for _, n := range t.facts.Nodes {
		if n.Up {
			machines = append(machines, l.node(n))
		}
	}
	for i := range l.routers {
		machines = append(machines, l.router(i))
	}
	for _, d := range slices.Concat(t.fabric.Down, t.facts.Down) {
		takeDown(machines, d)
	}
	return machines
}

// layer holds what all machines of a topology are made of.
type layer struct {
	topology
	confd   confd
	routers []route.Router
	cluster cluster
}

// as is the AS number of a node; of "", the cluster's.
func (l *layer) as(node string) uint32 {
	as := cmp.Or(l.fabric.AS, route.DefaultAS)
	if l.fabric.TopOfRack.DistinctAS && node != "" {
		as += uint32(slices.IndexFunc(l.facts.Nodes, func(n route.Node) bool { return n.Name == node }))
	}
	return as
}

// torAS is the AS number of a router.
func (l *layer) torAS(router int) uint32 {
	const firstToR = 65001
	if t := l.fabric.TopOfRack.ASNumbers; router < len(t) {
		return t[router]
	}
	if l.fabric.TopOfRack.AS != 0 {
		return l.fabric.TopOfRack.AS + uint32(router)
	}
	return firstToR + uint32(router)
}

// routerOf is the gateway of a node.
func (l *layer) routerOf(n route.Node) int {
	return slices.IndexFunc(l.routers, func(r route.Router) bool { return r.Addr.Masked() == n.Addr.Masked() })
}

// speaker is a node's BGP.
func (l *layer) speaker(n route.Node) speaker {
	s := speaker{name: n.Name, addr: n.Addr, cluster: l.clusterID(n.Name)}
	switch l.fabric.Topology {
	case route.ToR:
		if l.fabric.TopOfRack.DistinctAS {
			s.as = l.as(n.Name)
		}
		r := l.routerOf(n)
		s.peers = []peering{{
			addr: l.routers[r].Addr.Addr(), as: l.torAS(r), allowLocalAS: int32(l.fabric.TopOfRack.AllowLocalAS),
		}}
	case route.Reflectors:
		for _, other := range l.facts.Nodes {
			if other.Up && other.Name != n.Name && (l.clusterID(other.Name) != "" || s.cluster != "") {
				s.peers = append(s.peers, peering{addr: other.Addr.Addr(), as: l.as(other.Name), cluster: l.clusterID(other.Name), node: true})
			}
		}
	}
	return s
}

// clusterID is the route reflector cluster id of a node, "" if it is none. All
// have one, unless the topology wants two.
func (l *layer) clusterID(node string) string {
	i := slices.Index(l.fabric.Reflectors, node)
	switch {
	case i < 0:
		return ""
	case l.ownClusterIDs:
		return fmt.Sprintf("244.0.0.%d", i+1)
	}
	return "244.0.0.1"
}

// node is a node of the cluster with its pods.
func (l *layer) node(n route.Node) *machine {
	subnet := n.Addr.Masked().String()
	m := &machine{name: n.Name, restart: true, ports: []port{{l.device(), subnet, n.Addr}}}
	if !slices.Contains(l.fabric.NoDefaultRoute, n.Name) && !slices.Contains(l.fabric.NoDefaultRoute, "*") {
		m.gateway = l.routers[l.routerOf(n)].Addr.Addr()
	}
	pools := func(mode func(model.IPPool) string) bool {
		return slices.ContainsFunc(l.facts.Pools, func(p model.IPPool) bool { return modes[mode(p)] != "" })
	}
	m.ipip = pools(func(p model.IPPool) string { return p.IPIP })
	if m.ipip || n.Felix && pools(func(p model.IPPool) string { return p.VXLAN }) {
		m.tunnel = n.Tunnel
	}
	for _, a := range l.facts.Local {
		if a.Node == n.Name {
			m.pods = append(m.pods, pod{addr: a.Addr, dev: a.Dev})
		}
	}
	if n.BIRD {
		s := l.cluster.speakers[slices.IndexFunc(l.cluster.speakers, func(s speaker) bool { return s.name == n.Name })]
		m.configure = func(dir string) error {
			keys, err := l.cluster.keys(s)
			if err != nil {
				return err
			}
			return l.confd.render(familyOf(s.addr.Addr()), s.name, keys, dir)
		}
	}
	return m
}

// device is the nodes' interface.
func (l *layer) device() string {
	if l.fabric.Device != "" {
		return l.fabric.Device
	}
	return "eth0"
}

// router is the gateway of a subnet. It knows the subnets of the others; with
// topology tor it speaks BGP with its nodes and with them.
func (l *layer) router(i int) *machine {
	r := l.routers[i]
	m := &machine{name: r.Name, router: true, ports: []port{{"eth0", r.Addr.Masked().String(), r.Addr}}}
	t := tor{TopOfRack: l.fabric.TopOfRack, id: route.RouterOf(r.Addr.Addr()), as: l.torAS(i)}
	for _, n := range l.facts.Nodes {
		if n.Up && l.routerOf(n) == i {
			t.nodes = append(t.nodes, neighbor{n.Addr.Addr(), l.as(n.Name)})
		}
	}
	if len(l.routers) > 1 {
		m.ports = append(m.ports, port{"eth1", spineSegment, spineAddr(i, isSix(&l.facts))})
	}
	for j, other := range l.routers {
		if i != j {
			m.subnets = append(m.subnets, subnetRoute{other.Addr.Masked(), spineAddr(j, isSix(&l.facts)).Addr()})
			t.routers = append(t.routers, neighbor{spineAddr(j, isSix(&l.facts)).Addr(), l.torAS(j)})
		}
	}
	if l.fabric.Topology == route.ToR {
		m.configure = t.write
	}
	return m
}

func spineAddr(router int, six bool) netip.Prefix {
	subnet := spineSubnet
	if six {
		subnet = spineSubnet6
	}
	a := subnet.Addr()
	for range router + 1 {
		a = a.Next()
	}
	return netip.PrefixFrom(a, subnet.Bits())
}

// takeDown notes, at the session's first end, that an operator takes it down.
func takeDown(machines []*machine, s route.Session) {
	for _, a := range machines {
		for _, b := range machines {
			if a.name == s.A && b.name == s.B {
				a.down = append(a.down, b)
			}
		}
	}
}
