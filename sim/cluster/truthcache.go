package cluster

import (
	"cmp"
	"maps"
	"net/netip"
	"slices"
	"strings"

	"ipamsim/model"
	"ipamsim/model/route"
)

// seen is what was last worked out of the truth for those who look at all of it
// after every step. It is kept until what it was made of changes, and never
// changed itself. Guarded by Cluster.mu.
type seen struct {
	sandboxes []model.Sandbox
	pods      map[model.PodRef]model.Pod // nil once one changed
	locals    []route.Local
	tunnels   map[string]netip.Addr

	sorted, routed bool // sandboxes, and locals and tunnels, are up to date
	edition        int  // how often sandboxes or pods have changed
}

func (s *seen) sandboxesChanged() {
	s.sorted, s.routed = false, false
	s.edition++
}

func (s *seen) podsChanged() {
	s.pods = nil
	s.edition++
}

// seenSandboxes are those of the truth by node, pod and id.
func (c *Cluster) seenSandboxes() []model.Sandbox {
	s := &c.truth.seen
	if s.sorted {
		return s.sandboxes
	}
	all := slices.Collect(maps.Values(c.truth.sandboxes))
	slices.SortFunc(all, func(a, b *model.Sandbox) int {
		return cmp.Or(strings.Compare(a.Node, b.Node), byText(a.Pod, b.Pod), strings.Compare(a.ID, b.ID))
	})
	s.sandboxes, s.sorted = make([]model.Sandbox, len(all)), true
	for i, sb := range all {
		s.sandboxes[i] = *sb
		s.sandboxes[i].Attachments = slices.Clip(sb.Attachments) // more are appended, none is changed
	}
	return s.sandboxes
}

// byText orders pods by their text.
func byText(a, b model.PodRef) int {
	if a.Namespace == b.Namespace {
		return strings.Compare(a.Name, b.Name)
	}
	return strings.Compare(a.String(), b.String())
}

// seenPods are the stored pods as the judge knows them.
func (c *Cluster) seenPods() map[model.PodRef]model.Pod {
	s := &c.truth.seen
	if s.pods == nil {
		s.pods = maps.Clone(c.truth.pods)
	}
	return s.pods
}

// seenLocals are the addresses of the primary network by container, and the address
// of each node's own device: of several the first by handle. One for IPv6 carries no
// IPv4 packets (felix/dataplane/linux/vxlan_mgr.go, OnUpdate), and package route knows
// no others.
func (c *Cluster) seenLocals() ([]route.Local, map[string]netip.Addr) {
	s := &c.truth.seen
	if s.routed {
		return s.locals, s.tunnels
	}
	s.locals, s.tunnels, s.routed = nil, map[string]netip.Addr{}, true
	for _, id := range slices.Sorted(maps.Keys(c.truth.sandboxes)) {
		sb := c.truth.sandboxes[id]
		if sb.Stopped {
			continue
		}
		if sb.Pod.Namespace == "" { // a node's own device
			if a := sb.Attachments[0].Addrs[0]; a.Is4() && !s.tunnels[sb.Node].IsValid() {
				s.tunnels[sb.Node] = a
			}
			continue
		}
		for _, a := range sb.Attachments {
			if a.Network != c.cfg.Primary {
				continue
			}
			for _, addr := range a.Addrs {
				s.locals = append(s.locals, route.Local{Node: sb.Node, Addr: addr, Dev: c.routing.veth(sb.Pod)})
			}
		}
	}
	return s.locals, s.tunnels
}
