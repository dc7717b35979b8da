package main

import (
	"context"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"ipamsim/cmd/calico/lab/netns"
)

// machine is what a topology says about one node or router, and what it becomes.
type machine struct {
	name    string
	router  bool          // not a node of the cluster
	ports   []port        // their addresses are its own; the first is the one others peer with
	gateway netip.Addr    // its default route, if it has one
	tunnel  netip.Addr    // of its VXLAN or IP-in-IP device, if it has one
	ipip    bool          // the latter
	subnets []subnetRoute // static routes to the subnets of others
	pods    []pod
	// configure writes bird.cfg into a directory; nil: no BIRD runs here.
	configure func(dir string) error
	restart   bool       // BIRD is started as calico-node starts it
	down      []*machine // peers whose sessions an operator takes down here, once all are up

	space  *netns.Space
	routes *netns.Watch
	bird   *daemon
}

// port is an interface and the switch that its cable goes to.
type port struct {
	name, segment string
	addr          netip.Prefix // with the subnet's length
}

// subnetRoute is a static route.
type subnetRoute struct {
	to  netip.Prefix
	via netip.Addr
}

// pod is an address behind an interface of its node.
type pod struct {
	addr  netip.Addr
	dev   string
	space *netns.Space
}

func (m *machine) addr() netip.Addr { return m.ports[0].addr.Addr() }

func (m *machine) six() bool { return m.addr().Is6() }

// network is one topology, built: namespaces, cables and daemons.
type network struct {
	tools    netns.Tools
	dir      string
	machines []*machine
	cables   *netns.Space // the switches
	mute     bool         // its tunnels carry nothing: the kernel has none of their kind
}

// build makes everything but the daemons.
func (n *network) build() (err error) {
	if n.cables, err = netns.New(); err != nil {
		return err
	}
	switches := map[string]string{} // segment to the name of its bridge
	for i, m := range n.machines {
		if m.space, err = netns.New(); err != nil {
			return fmt.Errorf("%s: %w", m.name, err)
		}
		if m.routes, err = m.space.Watch(); err != nil {
			return fmt.Errorf("%s: %w", m.name, err)
		}
		for j, p := range m.ports {
			if switches[p.segment] == "" {
				switches[p.segment] = "br" + strconv.Itoa(len(switches))
				if err := n.cables.Bridge(switches[p.segment]); err != nil {
					return err
				}
			}
			if err := n.cables.Cable(switches[p.segment], plug(i, j), m.space, p.name); err != nil {
				return fmt.Errorf("%s: %w", m.name, err)
			}
			if err := m.space.Address(p.addr, p.name); err != nil {
				return fmt.Errorf("%s: %w", m.name, err)
			}
		}
		if err := m.furnish(); err != nil {
			return fmt.Errorf("%s: %w", m.name, err)
		}
	}
	return nil
}

// plug names the switch's end of the cable to a port of a machine.
func plug(machine, port int) string { return fmt.Sprintf("m%dp%d", machine, port) }

// furnish gives a machine its default route and its pods.
func (m *machine) furnish() (err error) {
	if m.gateway.IsValid() {
		if err := m.space.Gateway(m.gateway, m.ports[0].name); err != nil {
			return err
		}
	}
	for _, r := range m.subnets {
		if err := m.space.Route(r.to, r.via); err != nil {
			return err
		}
	}
	for i := range m.pods {
		p := &m.pods[i]
		if p.space, err = m.space.Pod(p.addr, p.dev); err != nil {
			return err
		}
		if err := m.space.Deliver(p.addr, p.dev); err != nil {
			return err
		}
	}
	return nil
}

// start starts every BIRD.
func (n *network) start() error {
	for _, m := range n.machines {
		if m.configure == nil {
			continue
		}
		f := familyOf(m.addr())
		m.bird = &daemon{path: n.tools.Birds[f.bird], dir: filepath.Join(n.dir, m.name), config: f.bird + ".cfg", restart: m.restart, space: m.space}
		if err := os.MkdirAll(m.bird.dir, 0o755); err != nil {
			return err
		}
		if err := m.configure(m.bird.dir); err != nil {
			return fmt.Errorf("%s: %w", m.name, err)
		}
	}
	for _, m := range n.machines {
		if m.bird == nil {
			continue
		}
		if err := m.bird.start(); err != nil {
			return fmt.Errorf("%s: %w", m.name, err)
		}
	}
	return nil
}

// disable takes down the sessions that the topology wants down.
func (n *network) disable() error {
	for _, m := range n.machines {
		sessions, err := []session(nil), error(nil)
		if len(m.down) > 0 {
			sessions, err = m.bird.sessions()
		}
		if err != nil {
			return fmt.Errorf("%s: %w", m.name, err)
		}
		for _, peer := range m.down {
			i := slices.IndexFunc(sessions, peer.speaksIn)
			if i < 0 {
				return fmt.Errorf("%s: no session with %s to take down", m.name, peer.name)
			}
			if err := m.bird.disable(sessions[i].name); err != nil {
				return fmt.Errorf("%s: %w", m.name, err)
			}
		}
	}
	return nil
}

// isDown reports whether a session of m is one that the topology wants down, at
// either end.
func (n *network) isDown(m *machine, s session) bool {
	return slices.ContainsFunc(n.machines, func(other *machine) bool {
		return other.speaksIn(s) && (slices.Contains(m.down, other) || slices.Contains(other.down, m))
	})
}

// speaksIn reports whether the machine is a peer in a session.
func (m *machine) speaksIn(s session) bool {
	return slices.ContainsFunc(m.ports, func(p port) bool { return s.with(p.addr.Addr()) })
}

// machine finds one by name.
func (n *network) machine(name string) *machine {
	for _, m := range n.machines {
		if m.name == name {
			return m
		}
	}
	panic("lab: no machine " + name) // the topology is ours
}

// podOf finds the machine's pod with an address.
func (m *machine) podOf(a netip.Addr) *pod {
	for i := range m.pods {
		if m.pods[i].addr == a {
			return &m.pods[i]
		}
	}
	panic("lab: no pod " + a.String() + " at " + m.name)
}

func (m *machine) owns(a netip.Addr) bool {
	return slices.ContainsFunc(m.ports, func(p port) bool { return p.addr.Addr() == a })
}

// The tables count as settled when nothing changed for quiet: BIRD looks at the
// kernel every two seconds (scan time 2 in Calico's template). convergeMax is
// longer than BIRD's connect retry and error waits together, on a busy machine.
const (
	quiet       = 2500 * time.Millisecond
	convergeMax = 90 * time.Second
	lookAgain   = 100 * time.Millisecond
)

// converge waits until every session is established, except those that are down on purpose, and no routing table has
// changed for a while. The error lists what is missing.
func (n *network) converge(ctx context.Context) error {
	deadline := time.Now().Add(convergeMax)
	for {
		missing := n.unsettled()
		if len(missing) == 0 {
			return nil
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("not converged after %v: %s", convergeMax, strings.Join(missing, "; "))
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(lookAgain):
		}
	}
}

// unsettled returns what converge still waits for.
func (n *network) unsettled() (missing []string) {
	for _, m := range n.machines {
		if m.bird == nil || m.bird.cmd == nil {
			continue
		}
		sessions, err := m.bird.sessions()
		if err != nil {
			missing = append(missing, fmt.Sprintf("%s: %v", m.name, err))
		}
		for _, s := range sessions {
			if !s.established && !n.isDown(m, s) {
				missing = append(missing, fmt.Sprintf("%s: session %s: %s", m.name, s.name, s.says))
			}
		}
	}
	for _, m := range n.machines {
		if since := time.Since(m.routes.QuietSince()); since < quiet {
			missing = append(missing, fmt.Sprintf("%s: a route changed %v ago", m.name, since.Round(time.Millisecond)))
		}
	}
	return missing
}

// close ends every process and namespace of the network.
func (n *network) close() {
	for _, m := range n.machines {
		if m.bird != nil {
			m.bird.kill()
		}
		if m.routes != nil {
			m.routes.Close()
		}
		for _, p := range m.pods {
			if p.space != nil {
				p.space.Close()
			}
		}
		if m.space != nil {
			m.space.Close()
		}
	}
	if n.cables != nil {
		n.cables.Close()
	}
}
