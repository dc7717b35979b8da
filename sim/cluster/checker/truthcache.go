package checker

import (
	"cmp"
	"maps"
	"net/netip"
	"slices"
	"strings"

	"ipamsim/model"
	"ipamsim/model/route"
)

// cache contains values computed from the truth for readers of all of it, which read after every
// step. A value is kept until its inputs change, and is never modified. Guarded by Checker.mu.
type cache struct {
	sandboxes []model.Sandbox
	pods      map[model.PodRef]model.Pod // nil once one changed
	locals    [2][]route.Local           // IPv4 and IPv6
	tunnels   [2]map[string]netip.Addr
	taken     []model.Taken // nil once a machine came, its power changed, or a Service did

	sorted, routed bool // sandboxes, and locals and tunnels, are up to date
	edition        int  // how often sandboxes or pods have changed
}

func (s *cache) sandboxesChanged() {
	s.sorted, s.routed = false, false
	s.edition++
}

func (s *cache) podsChanged() {
	s.pods = nil
	s.edition++
}

// sortedSandboxes are those of the truth by node, pod and id.
func (c *Checker) sortedSandboxes() []model.Sandbox {
	s := &c.cache
	if s.sorted {
		return s.sandboxes
	}
	all := slices.Collect(maps.Values(c.sandboxes))
	slices.SortFunc(all, func(a, b *model.Sandbox) int {
		return cmp.Or(strings.Compare(a.Node, b.Node), a.Pod.Compare(b.Pod), strings.Compare(a.ID, b.ID))
	})
	s.sandboxes, s.sorted = make([]model.Sandbox, len(all)), true
	for i, sb := range all {
		s.sandboxes[i] = *sb
		s.sandboxes[i].Attachments = slices.Clip(sb.Attachments) // more are appended, none is changed
	}
	return s.sandboxes
}

// storedPods are the stored pods as the checker knows them.
func (c *Checker) storedPods() map[model.PodRef]model.Pod {
	s := &c.cache
	if s.pods == nil {
		s.pods = maps.Clone(c.pods)
	}
	return s.pods
}

// taken are the addresses that belong to no pod: those of nodes with power, and of Outside.
func (c *Checker) taken() []model.Taken {
	s := &c.cache
	if s.taken != nil {
		return s.taken
	}
	s.taken = append([]model.Taken{}, c.cfg.Outside...)
	for name, n := range c.machines {
		if c.cfg.Primary == "" || !n.Up {
			continue
		}
		for _, a := range n.Own {
			s.taken = append(s.taken, model.Taken{Range: netip.PrefixFrom(a, a.BitLen()), By: model.Ref{Kind: model.RefNode, Name: name}, Network: c.cfg.Primary})
		}
	}
	for by, ranges := range c.others {
		for _, p := range ranges {
			s.taken = append(s.taken, model.Taken{Range: p, By: by, Network: c.cfg.Primary})
		}
	}
	return s.taken
}

// Takes records the current addresses of the primary network that belong to an object of the
// cluster other than a pod or a node.
func (c *Checker) Takes(by model.Ref, ranges []netip.Prefix) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if delete(c.others, by); len(ranges) > 0 {
		c.others[by] = ranges
	}
	c.cache.taken, c.changed = nil, true
}

// localAddrs are the addresses of the primary network by container, and the address of
// each node's own device, of several the first by handle; both of IPv4 and of IPv6: a
// device carries packets of one family (felix/dataplane/linux/vxlan_mgr.go, OnUpdate).
func (c *Checker) localAddrs() ([2][]route.Local, [2]map[string]netip.Addr) {
	s := &c.cache
	if s.routed {
		return s.locals, s.tunnels
	}
	s.locals, s.tunnels, s.routed = [2][]route.Local{}, [2]map[string]netip.Addr{{}, {}}, true
	for _, id := range slices.Sorted(maps.Keys(c.sandboxes)) {
		sb := c.sandboxes[id]
		if sb.Stopped {
			continue
		}
		if sb.Pod.Namespace == "" { // a node's own device
			a := sb.Attachments[0].Addrs[0]
			if t := s.tunnels[model.Family(a)]; !t[sb.Node].IsValid() {
				t[sb.Node] = a
			}
			continue
		}
		for _, a := range sb.Attachments {
			if a.Network != c.cfg.Primary {
				continue
			}
			for _, addr := range a.Addrs {
				l := &s.locals[model.Family(addr)]
				*l = append(*l, route.Local{Node: sb.Node, Addr: addr, Dev: c.routing.veth(sb.Pod)})
			}
		}
	}
	return s.locals, s.tunnels
}
