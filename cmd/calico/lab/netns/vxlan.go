package netns

import (
	"fmt"
	"net"
	"net/netip"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"ipamsim/model/route/fib"
)

// The VXLAN device of a node.
//
// Source: felix/config, VXLANVNI and VXLANPort; felix/dataplane/linux/dataplanedefs.
const (
	vxlanID   = 4096
	vxlanPort = 4789
)

// VXLANDevice is that of an address family.
func VXLANDevice(a netip.Addr) string {
	if a.Is6() {
		return "vxlan-v6.calico"
	}
	return "vxlan.calico"
}

// VXLAN makes the VXLAN device of a node.
func (s *Space) VXLAN(name, parent string, local, tunnel netip.Addr, mac net.HardwareAddr) error {
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
	if err := s.Address(netip.PrefixFrom(tunnel, tunnel.BitLen()), name); err != nil {
		return err
	}
	return s.up(name)
}

// VTEP sets the tunnel endpoint of another node on the device.
func (s *Space) VTEP(node, tunnel netip.Addr, mac net.HardwareAddr) error {
	l, err := s.handle.LinkByName(VXLANDevice(node))
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

// Program adds a route of the model with one next hop or none.
func (s *Space) Program(r fib.Route) error {
	k := &netlink.Route{Dst: ipNet(r.Dst), Protocol: unix.RTPROT_BOOT}
	if r.Proto == fib.Felix {
		k.Protocol = felixProtocol
	}
	if r.Type == fib.Blackhole {
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
