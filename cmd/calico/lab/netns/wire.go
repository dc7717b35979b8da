package netns

import (
	"fmt"
	"net"
	"net/netip"
	"slices"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// up switches an interface on.
func (s *Space) up(name string) error {
	l, err := s.handle.LinkByName(name)
	if err == nil {
		err = s.handle.LinkSetUp(l)
	}
	if err != nil {
		return fmt.Errorf("link set %s up: %w", name, err)
	}
	return nil
}

// Down switches an interface off.
func (s *Space) Down(name string) error {
	l, err := s.handle.LinkByName(name)
	if err == nil {
		err = s.handle.LinkSetDown(l)
	}
	if err != nil {
		return fmt.Errorf("link set %s down: %w", name, err)
	}
	return nil
}

// Remove deletes an interface.
func (s *Space) Remove(name string) error {
	l, err := s.handle.LinkByName(name)
	if err == nil {
		err = s.handle.LinkDel(l)
	}
	if err != nil {
		return fmt.Errorf("link del %s: %w", name, err)
	}
	return nil
}

// Bridge makes an Ethernet switch in the namespace.
func (s *Space) Bridge(name string) error {
	br := &netlink.Bridge{LinkAttrs: netlink.LinkAttrs{Name: name}}
	if err := s.handle.LinkAdd(br); err != nil {
		return fmt.Errorf("add bridge %s: %w", name, err)
	}
	return s.up(name)
}

// Cable connects an interface of another namespace to a switch of this one. Both
// ends are up afterwards.
func (s *Space) Cable(bridge, port string, other *Space, name string) error {
	br, err := s.handle.LinkByName(bridge)
	if err != nil {
		return fmt.Errorf("bridge %s: %w", bridge, err)
	}
	v := &netlink.Veth{
		LinkAttrs:     netlink.LinkAttrs{Name: port, MasterIndex: br.Attrs().Index},
		PeerName:      name,
		PeerNamespace: netlink.NsFd(other.fd),
	}
	if err := s.handle.LinkAdd(v); err != nil {
		return fmt.Errorf("add veth %s: %w", port, err)
	}
	if err := other.up(name); err != nil {
		return err
	}
	return s.up(port)
}

// Address gives an interface an address with its subnet's length.
func (s *Space) Address(a netip.Prefix, name string) error {
	l, err := s.handle.LinkByName(name)
	if err == nil {
		err = s.handle.AddrAdd(l, &netlink.Addr{IPNet: ipNet(a), Flags: flagsOf(a.Addr())})
	}
	if err != nil {
		return fmt.Errorf("addr add %s dev %s: %w", a, name, err)
	}
	return nil
}

// Has reports whether an interface has an address.
func (s *Space) Has(name string, a netip.Addr) bool {
	l, err := s.handle.LinkByName(name)
	if err != nil {
		return false
	}
	all, _ := s.handle.AddrList(l, netlink.FAMILY_V6)
	return slices.ContainsFunc(all, func(x netlink.Addr) bool { return x.IP.Equal(a.AsSlice()) })
}

// flagsOf returns the flags of an address: an IPv6 address is used immediately, without duplicate
// address detection.
func flagsOf(a netip.Addr) int {
	if a.Is6() {
		return unix.IFA_F_NODAD
	}
	return 0
}

// Gateway makes the default route through a router behind an interface, whose
// subnet need not be known.
func (s *Space) Gateway(via netip.Addr, name string) error {
	l, err := s.handle.LinkByName(name)
	if err == nil {
		err = s.handle.RouteAdd(&netlink.Route{Gw: via.AsSlice(), LinkIndex: l.Attrs().Index, Flags: int(netlink.FLAG_ONLINK)})
	}
	if err != nil {
		return fmt.Errorf("route add default via %s dev %s: %w", via, name, err)
	}
	return nil
}

// Route adds a static route.
func (s *Space) Route(to netip.Prefix, via netip.Addr) error {
	if err := s.handle.RouteAdd(&netlink.Route{Dst: ipNet(to), Gw: via.AsSlice()}); err != nil {
		return fmt.Errorf("route add %s via %s: %w", to, via, err)
	}
	return nil
}

// Deliver adds the route of an address behind an interface, as Felix does.
//
// Source: felix/config, DeviceRouteProtocol (3, which ip route prints as nothing).
func (s *Space) Deliver(a netip.Addr, name string) error {
	return s.delivery(a, name, s.handle.RouteAdd)
}

// Undeliver removes it.
func (s *Space) Undeliver(a netip.Addr, name string) error {
	return s.delivery(a, name, s.handle.RouteDel)
}

func (s *Space) delivery(a netip.Addr, name string, change func(*netlink.Route) error) error {
	l, err := s.handle.LinkByName(name)
	if err == nil {
		err = change(&netlink.Route{
			LinkIndex: l.Attrs().Index, Dst: ipNet(netip.PrefixFrom(a, a.BitLen())),
			Scope: netlink.SCOPE_LINK, Protocol: unix.RTPROT_BOOT,
		})
	}
	if err != nil {
		return fmt.Errorf("route %s dev %s: %w", a, name, err)
	}
	return nil
}

// SourceTo is the address that the kernel would send from; ok is false if it would
// not send at all.
func (s *Space) SourceTo(to netip.Addr) (a netip.Addr, ok bool) {
	routes, err := s.handle.RouteGet(to.AsSlice())
	if err != nil || len(routes) == 0 {
		return netip.Addr{}, false
	}
	a, ok = netip.AddrFromSlice(routes[0].Src)
	return a.Unmap(), ok
}

// Flush removes every route of one protocol, as a reboot does.
func (s *Space) Flush(protocol netlink.RouteProtocol) error {
	routes, err := s.handle.RouteListFiltered(netlink.FAMILY_ALL, &netlink.Route{Protocol: protocol}, netlink.RT_FILTER_PROTOCOL)
	for i := 0; err == nil && i < len(routes); i++ {
		err = s.handle.RouteDel(&routes[i])
	}
	if err != nil {
		return fmt.Errorf("flush routes of protocol %d: %w", protocol, err)
	}
	return nil
}

// caliMAC is the address of the host's end of every pod's veth; gatewayOfPods is every pod's
// default gateway, which no interface has.
//
// Source: cni-plugin/pkg/dataplane/linux, DoNetworking.
var (
	caliMAC        = net.HardwareAddr{0xee, 0xee, 0xee, 0xee, 0xee, 0xee}
	gatewayOfPods  = netip.MustParseAddr("169.254.1.1")
	gateway6OfPods = netip.MustParseAddr("fe80::ecee:eeff:feee:eeee") // caliMAC's own
)

// Pod makes a namespace with one address behind an interface of this one, as
// Calico's CNI plugin does, without the node's route to it.
func (s *Space) Pod(a netip.Addr, name string) (*Space, error) {
	p, err := New()
	if err != nil {
		return nil, err
	}
	if err := s.plugPod(p, a, name); err != nil {
		p.Close()
		return nil, fmt.Errorf("pod %s behind %s: %w", a, name, err)
	}
	return p, nil
}

func (s *Space) plugPod(p *Space, a netip.Addr, name string) error {
	v := &netlink.Veth{
		LinkAttrs: netlink.LinkAttrs{Name: name, HardwareAddr: caliMAC}, PeerName: "eth0", PeerNamespace: netlink.NsFd(p.fd),
	}
	if err := s.handle.LinkAdd(v); err != nil {
		return err
	}
	if err := s.up(name); err != nil {
		return err
	}
	if err := p.up("eth0"); err != nil {
		return err
	}
	if err := p.Address(netip.PrefixFrom(a, a.BitLen()), "eth0"); err != nil {
		return err
	}
	gateway := gatewayOfPods
	if a.Is6() {
		gateway = gateway6OfPods
	} else if err := p.Deliver(gateway, "eth0"); err != nil {
		return err
	}
	eth0, err := p.handle.LinkByName("eth0")
	if err != nil {
		return err
	}
	err = p.handle.NeighAdd(&netlink.Neigh{
		LinkIndex: eth0.Attrs().Index, IP: gateway.AsSlice(), HardwareAddr: caliMAC, State: netlink.NUD_PERMANENT,
	})
	if err != nil {
		return err
	}
	return p.Gateway(gateway, "eth0")
}

func ipNet(p netip.Prefix) *net.IPNet {
	return &net.IPNet{IP: p.Addr().AsSlice(), Mask: net.CIDRMask(p.Bits(), p.Addr().BitLen())}
}
