package main

import (
	"fmt"
	"net"
	"net/netip"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"ipamsim/model/route"
)

// The VXLAN device of a node.
//
// Source: felix/config, VXLANVNI and VXLANPort; felix/dataplane/linux/dataplanedefs.
const (
	vxlanID   = 4096
	vxlanPort = 4789
)

// vxlanDevice is that of an address family.
func vxlanDevice(a netip.Addr) string {
	if a.Is6() {
		return "vxlan-v6.calico"
	}
	return "vxlan.calico"
}

// tunnels gives every node with a tunnel address its VXLAN device, what it must
// know of those of the others, and Felix's routes.
//
// The routes are the model's, which other tests compare with Felix's resolver:
// here the question is what a kernel does with them, and BIRD beside them.
//
// Source: felix/dataplane/linux/vxlan_mgr.go.
func (n *network) tunnels(model *route.Tables) error {
	for i, m := range n.machines {
		if !m.tunnel.IsValid() {
			continue
		}
		if err := m.space.vxlan(vxlanDevice(m.addr()), m.ports[0].name, m.addr(), m.tunnel, vtepMAC(i)); err != nil {
			return fmt.Errorf("%s: %w", m.name, err)
		}
		for j, other := range n.machines {
			if i == j || !other.tunnel.IsValid() {
				continue
			}
			if err := m.space.vtep(other.addr(), other.tunnel, vtepMAC(j)); err != nil {
				return fmt.Errorf("%s: %w", m.name, err)
			}
		}
		table, _ := model.Of(m.name)
		for _, r := range table.Routes {
			if !r.Tunnel && r.Proto != route.Felix {
				continue
			}
			if err := m.space.program(r); err != nil {
				return fmt.Errorf("%s: %w", m.name, err)
			}
		}
	}
	return nil
}

// vtepMAC is the address of a node's VXLAN device.
func vtepMAC(machine int) net.HardwareAddr {
	return net.HardwareAddr{0x66, 0, 0, 0, 0, byte(machine)}
}

// vxlan makes the VXLAN device of a node.
func (s *space) vxlan(name, parent string, local, tunnel netip.Addr, mac net.HardwareAddr) error {
	p, err := s.handle.LinkByName(parent)
	if err != nil {
		return err
	}
	err = s.handle.LinkAdd(&netlink.Vxlan{
		LinkAttrs: netlink.LinkAttrs{Name: name, HardwareAddr: mac},
		VxlanId:   vxlanID, Port: vxlanPort, VtepDevIndex: p.Attrs().Index, SrcAddr: local.AsSlice(),
	})
	if err != nil {
		return fmt.Errorf("add %s: %w", name, err)
	}
	if err := s.address(netip.PrefixFrom(tunnel, tunnel.BitLen()), name); err != nil {
		return err
	}
	return s.up(name)
}

// vtep tells the device where another node's is.
func (s *space) vtep(node, tunnel netip.Addr, mac net.HardwareAddr) error {
	l, err := s.handle.LinkByName(vxlanDevice(node))
	if err != nil {
		return err
	}
	for _, known := range []*netlink.Neigh{
		{LinkIndex: l.Attrs().Index, State: netlink.NUD_PERMANENT, IP: tunnel.AsSlice(), HardwareAddr: mac},
		{LinkIndex: l.Attrs().Index, State: netlink.NUD_PERMANENT, IP: node.AsSlice(), HardwareAddr: mac, Family: unix.AF_BRIDGE, Flags: netlink.NTF_SELF},
	} {
		if err := s.handle.NeighSet(known); err != nil {
			return fmt.Errorf("neighbour %s of %s: %w", known.IP, l.Attrs().Name, err)
		}
	}
	return nil
}

// program adds a route of the model with one next hop or none.
func (s *space) program(r route.Route) error {
	k := &netlink.Route{Dst: ipNet(r.Dst), Protocol: unix.RTPROT_BOOT}
	if r.Proto == route.Felix {
		k.Protocol = felixProtocol
	}
	if r.Type == route.Blackhole {
		k.Type = unix.RTN_BLACKHOLE
	} else {
		l, err := s.handle.LinkByName(r.Dev)
		if err != nil {
			return fmt.Errorf("route %s: %w", r.Dst, err)
		}
		k.LinkIndex, k.Gw, k.Flags = l.Attrs().Index, r.Via[0].AsSlice(), int(netlink.FLAG_ONLINK)
	}
	if err := s.handle.RouteAdd(k); err != nil {
		return fmt.Errorf("route add %s: %w", r.String(), err)
	}
	return nil
}

// felixProtocol is route.Felix as a number.
const felixProtocol = 80
