package calico

import (
	"slices"
	"strings"

	"ipamsim/scenarios/dump/alias"
	"ipamsim/scenarios/dump/calico/selector"
	"ipamsim/scenarios/dump/kept"
)

// keptNotes of a node are what routes and tunnels need.
var keptNotes = map[string]bool{
	"IPv4Address": true, "IPv6Address": true, "ASNumber": true, "RouteReflectorClusterID": true,
	"IPv4IPIPTunnelAddr": true, "IPv4VXLANTunnelAddr": true, "IPv6VXLANTunnelAddr": true,
	"IPv4WireguardInterfaceAddr": true, "IPv6WireguardInterfaceAddr": true,
}

// written reports whether Calico wrote an annotation of the pod that has it.
func written(key string) bool {
	return slices.Contains([]string{containerNote, podNotes + "podIP", podNotes + "podIPs"}, key)
}

// The further kinds of names in Calico's record.
const (
	poolNames        = "pool"
	reservationNames = "reservation"
	handleNames      = "handle"
)

func (d *record) names(n alias.Names) {
	n.Add(handleNames)
	n.Add(poolNames, kept.Keys(d.pools)...)
	n.Add(reservationNames, kept.Keys(d.reserving)...)
	for _, p := range d.pools {
		selector.Words(p.NodeSelector, n[alias.Label], n[alias.Value])
		selector.Words(p.NamespaceSelector, n[alias.Label], n[alias.Value])
	}
	for _, x := range d.affinities {
		n.Add(alias.Node, x.Node)
	}
	for id := range d.handles {
		nameHandle(n, id)
	}
	for _, b := range d.blocks {
		if _, host, ok := strings.Cut(deref(b.Affinity), ":"); ok {
			n.Add(alias.Node, host)
		}
		for _, at := range b.Attributes {
			for _, kind := range []string{alias.Node, alias.Namespace, alias.Pod} {
				n.Add(kind, at.Secondary[kind])
			}
			nameHandle(n, deref(at.Handle))
		}
	}
}

func nameHandle(n alias.Names, id string) {
	if c, ok := strings.CutPrefix(id, podHandle); ok {
		n.Add(alias.Container, c)
		return
	}
	for _, t := range tunnelHandles {
		if node, ok := strings.CutPrefix(id, t); ok {
			n.Add(alias.Node, node)
			return
		}
	}
	n.Add(handleNames, id)
}

func (d *record) ranges() (out []string) {
	for _, p := range d.pools {
		out = append(out, p.CIDR)
	}
	for _, r := range d.reserving {
		out = append(out, r.ReservedCIDRs...)
	}
	for key := range d.blocks {
		out = append(out, key)
	}
	for _, x := range d.affinities {
		out = append(out, x.CIDR)
	}
	for _, h := range d.handles {
		out = append(out, kept.Keys(h.Block)...)
	}
	return out
}

func (d *record) rename(a *alias.Aliases) error {
	if err := d.aliasPools(a); err != nil {
		return err
	}
	d.aliasRecord(a)
	d.fabric.AS, d.fabric.TopOfRack.AS, d.fabric.TopOfRack.ASNumbers = 0, 0, nil
	for i, n := range d.fabric.Reflectors {
		d.fabric.Reflectors[i] = a.Get(alias.Node, n)
	}
	return nil
}

// note is an annotation of an anonymised pod or node.
func note(a *alias.Aliases, key, value string) string {
	switch key {
	case containerNote:
		return a.Container(value)
	case podNotes + "podIP", podNotes + "podIPs":
		return strings.Join(a.Texts(strings.Split(value, ",")), ",")
	case nodeNotes + "ASNumber":
		return ""
	case nodeNotes + "RouteReflectorClusterID":
		return "224.0.0.1"
	}
	if strings.HasPrefix(key, nodeNotes) {
		return a.Text(value)
	}
	return ""
}

func (d *record) aliasPools(a *alias.Aliases) error {
	pools := map[string]*poolSpec{}
	for name, p := range d.pools {
		q := *p
		q.CIDR = a.Text(p.CIDR)
		var err error
		if q.NodeSelector, err = selector.Rename(a, p.NodeSelector); err != nil {
			return err
		}
		if q.NamespaceSelector, err = selector.Rename(a, p.NamespaceSelector); err != nil {
			return err
		}
		pools[a.Get("pool", name)] = &q
	}
	d.pools = pools
	all := map[string]*reservationSpec{}
	for name, r := range d.reserving {
		all[a.Get("reservation", name)] = &reservationSpec{a.Texts(r.ReservedCIDRs)}
	}
	d.reserving = all
	return nil
}

func (d *record) aliasRecord(a *alias.Aliases) {
	blocks := map[string]*blockSpec{}
	for _, b := range d.blocks {
		n := *b
		n.CIDR = a.Text(b.CIDR)
		if kind, host, ok := strings.Cut(deref(b.Affinity), ":"); ok {
			s := kind + ":" + a.Get("node", host)
			n.Affinity = &s
		}
		n.Attributes = make([]attribute, len(b.Attributes))
		for i, at := range b.Attributes {
			if at.Handle != nil {
				h := handle(a, *at.Handle)
				n.Attributes[i].Handle = &h
			}
			if at.Secondary == nil {
				continue
			}
			s := map[string]string{}
			for _, k := range []string{"node", "namespace", "pod"} {
				if v := at.Secondary[k]; v != "" {
					s[k] = a.Get(k, v)
				}
			}
			if v := at.Secondary["type"]; strings.HasSuffix(v, "TunnelAddress") {
				s["type"] = v
			}
			n.Attributes[i].Secondary = s
		}
		blocks[n.CIDR] = &n
	}
	d.blocks = blocks
	for i := range d.affinities {
		x := &d.affinities[i]
		x.Node, x.CIDR = a.Get("node", x.Node), a.Text(x.CIDR)
	}
	handles := map[string]*handleSpec{}
	for id, h := range d.handles {
		n := &handleSpec{HandleID: handle(a, id), Block: map[string]int{}, Deleted: h.Deleted}
		for b, count := range h.Block {
			n.Block[a.Text(b)] = count
		}
		handles[n.HandleID] = n
	}
	d.handles = handles
}

// tunnelHandles are the handles of nodes' own addresses, without the node's name.
//
// Source: node/pkg/allocateip, generateHandleAndAttributes (v3.31).
var tunnelHandles = []string{"ipip-tunnel-addr-", "vxlan-tunnel-addr-", "vxlan-v6-tunnel-addr-", "wireguard-tunnel-addr-", "wireguard-v6-tunnel-addr-"}

// handle is the alias of a handle.
func handle(a *alias.Aliases, id string) string {
	if c, ok := strings.CutPrefix(id, podHandle); ok {
		return podHandle + a.Container(c)
	}
	for _, t := range tunnelHandles {
		if n, ok := strings.CutPrefix(id, t); ok {
			return t + a.Get("node", n)
		}
	}
	if id == "windows-reserved-ipam-handle" {
		return id
	}
	return a.Get("handle", id)
}
