package netns

import (
	"errors"
	"fmt"
	"net/netip"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// IPIPDevice is the IP-in-IP device of a node.
//
// Source: felix/dataplane/linux/dataplanedefs, IPIPIfaceName.
const IPIPDevice = "tunl0"

// IPIP gives a node its IP-in-IP device. A kernel that has none gets an empty bridge of that
// name: routes can be put there, and packets are lost. real reports which it is.
//
// Source: felix/dataplane/linux/ipip_mgr.go: the device that the kernel's module makes in
// each namespace, without addresses of its own for either end.
func (s *Space) IPIP(tunnel netip.Addr) (real bool, err error) {
	if _, err := s.handle.LinkByName(IPIPDevice); err == nil {
		real = true
	} else if real, err = s.makeIPIP(); err != nil {
		return false, fmt.Errorf("add %s: %w", IPIPDevice, err)
	}
	if err := s.Address(netip.PrefixFrom(tunnel, tunnel.BitLen()), IPIPDevice); err != nil {
		return real, err
	}
	return real, s.up(IPIPDevice)
}

func (s *Space) makeIPIP() (real bool, err error) {
	attrs := netlink.LinkAttrs{Name: IPIPDevice}
	err = s.handle.LinkAdd(&netlink.Iptun{LinkAttrs: attrs})
	if !errors.Is(err, unix.EOPNOTSUPP) {
		return err == nil, err
	}
	return false, s.handle.LinkAdd(&netlink.Bridge{LinkAttrs: attrs})
}
