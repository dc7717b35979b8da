package calico

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/netip"

	"ipamsim/model/route"
	"ipamsim/scenarios/dump/calico/printed"
	"ipamsim/scenarios/dump/kept"
)

// bgpSpec is the topology in BGPConfiguration.
type bgpSpec struct {
	Mesh *bool // nodeToNodeMeshEnabled
	AS   uint32
}

// peerSpec is a BGPPeer.
type peerSpec struct {
	PeerIP, PeerSelector, Node, NodeSelector string
	AS                                       uint32
	AllowLocalAS                             int
}

func (c *objects) addBGP(h *kept.Head, raw json.RawMessage) error {
	var o struct {
		Spec struct {
			NodeToNodeMeshEnabled *bool            `json:"nodeToNodeMeshEnabled"`
			ASNumber              printed.ASNumber `json:"asNumber"`
		} `json:"spec"`
	}
	if err := json.Unmarshal(raw, &o); err != nil {
		return err
	}
	return kept.Put(c.Store, c.bgp, h.Metadata.Name, h, bgpSpec{o.Spec.NodeToNodeMeshEnabled, uint32(o.Spec.ASNumber)})
}

func (c *objects) addPeer(h *kept.Head, raw json.RawMessage) error {
	var o struct {
		Spec struct {
			PeerIP                   string           `json:"peerIP"`
			PeerSelector             string           `json:"peerSelector"`
			Node                     string           `json:"node"`
			NodeSelector             string           `json:"nodeSelector"`
			ASNumber                 printed.ASNumber `json:"asNumber"`
			NumAllowedLocalASNumbers int              `json:"numAllowedLocalASNumbers"`
		} `json:"spec"`
	}
	if err := json.Unmarshal(raw, &o); err != nil {
		return err
	}
	s := o.Spec
	return kept.Put(c.Store, c.peers, h.Metadata.Name, h, peerSpec{s.PeerIP, s.PeerSelector, s.Node, s.NodeSelector, uint32(s.ASNumber), s.NumAllowedLocalASNumbers})
}

// mesh reports whether the dump shows a full node-to-node mesh.
func (c *objects) mesh() bool {
	b := c.bgp["default"]
	return b != nil && (b.Value.Mesh == nil || *b.Value.Mesh)
}

// fabric returns the network between the nodes according to BGPConfiguration, BGPPeers and nodes, and how
// it was derived.
func (c *objects) fabric() (route.Fabric, string) {
	mesh, as := true, uint32(0)
	if b := c.bgp["default"]; b != nil {
		mesh, as = b.Value.Mesh == nil || *b.Value.Mesh, b.Value.AS
	}
	f := route.Fabric{AS: as}
	own := map[netip.Addr]bool{}
	for _, name := range c.Nodes.Keys() {
		n := c.Nodes[name].Value
		if n.Annotations[nodeNotes+"RouteReflectorClusterID"] != "" {
			f.Reflectors = append(f.Reflectors, name)
		}
		for _, note := range []string{nodeIPv4, nodeIPv6} {
			if p, err := netip.ParsePrefix(n.Annotations[note]); err == nil {
				own[p.Addr()] = true
			}
		}
	}
	outside, local, remote := 0, 0, uint32(0)
	routers := map[netip.Addr]uint32{}
	for _, name := range c.peers.Keys() {
		p := c.peers[name].Value
		if a := peerAddr(p.PeerIP); a.IsValid() && !own[a] {
			outside++
			local, routers[a] = max(local, p.AllowLocalAS), p.AS
			if remote == 0 || p.AS < remote {
				remote = p.AS
			}
		}
	}
	switch {
	case len(f.Reflectors) > 0 && !mesh:
		f.Topology = route.Reflectors
		return f, "fabric: route reflectors, by the nodes' routeReflectorClusterID"
	case outside > 0:
		f.Reflectors = nil
		f.Topology = route.ToR
		f.TopOfRack = route.TopOfRack{AS: remote, AllowLocalAS: min(local, 10), Mesh: mesh}
		if nodeAS := cmp.Or(as, route.DefaultAS); remote == nodeAS {
			f.TopOfRack.AS = 0 // routers of the nodes' own AS are not simulated
		}
		f.TopOfRack.ASNumbers = c.asNumbers(routers, cmp.Or(as, route.DefaultAS))
		return f, fmt.Sprintf("fabric: routers that the nodes peer with, by %d BGPPeers; what the routers filter is not in the dump%s", outside, c.unpeered(routers))
	case !mesh:
		f.Reflectors = nil
		return f, "fabric: no node-to-node mesh and no BGPPeer in the dump: a full mesh is assumed"
	case len(c.bgp)+len(c.peers) == 0:
		f.Reflectors = nil
		return f, "fabric: neither BGPConfiguration nor BGPPeers in the dump: Calico's default, a full node-to-node mesh, is assumed"
	}
	f.Reflectors = nil
	return f, ""
}

// The annotations in which a node's own addresses are.
const (
	nodeIPv4 = nodeNotes + "IPv4Address"
	nodeIPv6 = nodeNotes + "IPv6Address"
)

// peerAddr is the address of a BGPPeer's peerIP, which may name a port: 192.0.2.1:179,
// [2001:db8::1]:179. Not valid: it has none.
func peerAddr(peerIP string) netip.Addr {
	if a, err := netip.ParseAddr(peerIP); err == nil {
		return a.WithZone("")
	}
	p, _ := netip.ParseAddrPort(peerIP)
	return p.Addr()
}

// unpeered reports that there are pools of a family without a BGPPeer of that family.
func (c *objects) unpeered(routers map[netip.Addr]uint32) string {
	var pools, peers [2]bool
	of := func(a netip.Addr) int {
		if a.Is4() {
			return 0
		}
		return 1
	}
	for _, name := range c.pools.Keys() {
		if p, err := netip.ParsePrefix(c.pools[name].Value.CIDR); err == nil {
			pools[of(p.Addr())] = true
		}
	}
	for a := range routers {
		peers[of(a)] = true
	}
	for i, other := range []string{"IPv4", "IPv6"} {
		if pools[i] && !peers[i] {
			return "; no BGPPeer is of " + other + ": its routes are assumed to follow the other family's"
		}
	}
	return ""
}

// asNumbers are those of the routers of the nodes' subnets, in order of subnets; nil if
// the BGPPeers name one only. A subnet in which no peer lies has that of the last before
// it, and a router of the nodes' own AS, which is not simulated, has one of its own.
func (c *objects) asNumbers(peers map[netip.Addr]uint32, nodes uint32) []uint32 {
	numbers := map[uint32]bool{}
	for _, as := range peers {
		numbers[as] = true
	}
	if len(numbers) < 2 {
		return nil
	}
	note := nodeIPv6
	for a := range peers {
		if a.Is4() {
			note = nodeIPv4 // routers of two families are the same ones
		}
	}
	var all []route.Node
	for _, name := range c.Nodes.Keys() {
		if p, err := netip.ParsePrefix(c.Nodes[name].Value.Annotations[note]); err == nil {
			all = append(all, route.Node{Name: name, Addr: p})
		}
	}
	var out []uint32
	for i, r := range (&route.Fabric{Topology: route.ToR}).Routers(all) {
		as := uint32(0)
		for a, n := range peers {
			if r.Addr.Masked().Contains(a) && (as == 0 || n < as) {
				as = n
			}
		}
		switch {
		case as == 0 && i > 0:
			as = out[i-1]
		case as == 0 || as == nodes:
			as = ownAS + uint32(i)
		}
		out = append(out, as)
	}
	return out
}

// ownAS is the first of the private AS numbers for routers whose number is unknown.
const ownAS = 4200000000 // RFC 6996
