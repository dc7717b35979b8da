package main

import (
	"fmt"
	"net"

	"ipamsim/cmd/calico/lab/netns"
	"ipamsim/model/route/fib"
)

// tunnels gives every node with a tunnel address its VXLAN or IP-in-IP device, what it
// must know of those of the others, and Felix's routes.
//
// The routes are the model's, which other tests compare with Felix's resolver:
// here the question is what a kernel does with them, and BIRD beside them. Those into
// an IP-in-IP device are of Calico's fork of BIRD; see stockBIRD.
//
// Source: felix/dataplane/linux/vxlan_mgr.go.
func (n *network) tunnels(model *fib.Tables) error {
	for i, m := range n.machines {
		if !m.tunnel.IsValid() {
			continue
		}
		if m.ipip {
			real, err := m.space.IPIP(m.tunnel)
			if err != nil {
				return fmt.Errorf("%s: %w", m.name, err)
			}
			n.mute = n.mute || !real
		} else if err := n.vxlan(i, m); err != nil {
			return fmt.Errorf("%s: %w", m.name, err)
		}
		table, _ := model.Of(m.name)
		for _, r := range table.Routes {
			if !r.Tunnel && r.Proto != fib.Felix {
				continue
			}
			if err := m.space.Program(r); err != nil {
				return fmt.Errorf("%s: %w", m.name, err)
			}
		}
	}
	return nil
}

// vxlan gives a node its VXLAN device.
func (n *network) vxlan(i int, m *machine) error {
	if err := m.space.VXLAN(netns.VXLANDevice(m.addr()), m.ports[0].name, m.addr(), m.tunnel, vtepMAC(i)); err != nil {
		return err
	}
	for j, other := range n.machines {
		if i == j || !other.tunnel.IsValid() {
			continue
		}
		if err := m.space.VTEP(other.addr(), other.tunnel, vtepMAC(j)); err != nil {
			return err
		}
	}
	return nil
}

// vtepMAC is the address of a node's VXLAN device.
func vtepMAC(machine int) net.HardwareAddr {
	return net.HardwareAddr{0x66, 0, 0, 0, 0, byte(machine)}
}
