// Package nodeipam is Kubernetes' node IPAM with host-local on each node's ranges, as the
// address manager of a plan: what its controller and the plugin decide, without messages.
package nodeipam

import (
	"cmp"
	"errors"
	"net/netip"
	"slices"

	"ipamsim/model"
	"ipamsim/model/capacity"
)

// Config is node IPAM as the cluster's only network configures it.
type Config struct{}

// Open implements capacity.Manager.
func (Config) Open(p *capacity.Player) (*capacity.Allocator, error) {
	all := p.Cluster().Networks
	switch {
	case len(all) != 1 || len(all[0].Ranges) == 0:
		return nil, capacity.NotModelled(errors.New("node IPAM has one network of all pods"))
	case p.Cluster().Record != nil:
		return nil, capacity.NotModelled(errors.New("a cluster that runs already"))
	}
	a := &allocator{player: p, nodes: map[string]*node{}}
	for _, r := range all[0].Ranges {
		c, err := cut(r)
		if err != nil {
			return nil, capacity.NotModelled(err)
		}
		a.clusters = append(a.clusters, c)
	}
	return &capacity.Allocator{
		Add: a.add, Del: a.del, Record: a.record, InUse: a.inUse,
		Joins: a.joins, Deleted: a.deleted, Up: a.joins,
		Hopeless: func(m *capacity.Machine) bool { return a.nodes[m.Name] == nil && a.full() },
	}, nil
}

// allocator is the controller and the plugins.
type allocator struct {
	player   *capacity.Player
	clusters []*cluster
	nodes    map[string]*node
}

// cluster is a range that is cut into those of nodes.
type cluster struct {
	slices []netip.Prefix
	taken  []bool // by slice
	next   int    // where the search for a free one begins
}

// slicesMax is upstream's own limit (clusterSubnetMaxDiff).
const slicesMax = 1 << 16

// cut makes the slices of a range. No node gets a slice that the range excludes.
//
// Source: pkg/controller/nodeipam/ipam/cidrset, NewCIDRSet; ipam/range_allocator.go,
// filterOutServiceRange (v1.37.2).
func cut(r model.Range) (*cluster, error) {
	bits := r.Slice - r.Prefix.Bits()
	if r.Slice == 0 || bits < 0 || 1<<bits > slicesMax {
		return nil, errors.New("a range that is not cut into those of nodes")
	}
	c := &cluster{}
	for p := netip.PrefixFrom(r.Prefix.Masked().Addr(), r.Slice); len(c.slices) < 1<<bits; p = netip.PrefixFrom(model.LastAddr(p).Next(), r.Slice) {
		c.slices = append(c.slices, p)
		c.taken = append(c.taken, slices.ContainsFunc(r.Exclude, p.Overlaps))
	}
	return c, nil
}

// take is the next free slice after the last that was taken; ok is false if all are.
//
// Source: cidrset, AllocateNext (v1.37.2).
func (c *cluster) take() (at int, ok bool) {
	for i := range c.slices {
		at = (c.next + i) % len(c.slices)
		if !c.taken[at] {
			c.taken[at], c.next = true, (at+1)%len(c.slices)
			return at, true
		}
	}
	return 0, false
}

// node is one that has its ranges.
type node struct {
	slices []int // by cluster
	hosts  []*host
}

// host is host-local on one range of a node.
type host struct {
	pool  string
	in    netip.Prefix
	first netip.Addr // that it hands out: the one before is the bridge's
	last  netip.Addr
	after netip.Addr            // the address that was handed out last
	used  map[netip.Addr]string // by container
	pods  map[netip.Addr]model.PodRef
}

// joins gives a node its ranges, one of each cluster range, or none; it waits for its
// process to be started again when something may have come free.
//
// Source: range_allocator.go, AllocateOrOccupyCIDR (v1.37.2).
func (a *allocator) joins(m *capacity.Machine) error {
	if a.nodes[m.Name] != nil || !m.Registered {
		return nil
	}
	n := &node{}
	for i, c := range a.clusters {
		at, ok := c.take()
		if !ok {
			for j, taken := range n.slices {
				a.clusters[j].taken[taken] = false
			}
			a.player.Lacks(m)
			return nil
		}
		n.slices = append(n.slices, at)
		n.hosts = append(n.hosts, newHost(m.Name, a.clusters[i].slices[at]))
	}
	a.nodes[m.Name] = n
	return nil
}

// newHost leaves out the network's own address, the gateway, and of IPv4 the broadcast.
//
// Source: plugins/ipam/host-local/backend/allocator, (*Range).Canonicalize (v1.10.0).
func newHost(node string, in netip.Prefix) *host {
	h := &host{pool: node + "/" + in.String(), in: in, used: map[netip.Addr]string{}, pods: map[netip.Addr]model.PodRef{}}
	h.first, h.last = in.Addr().Next().Next(), model.LastAddr(in)
	if in.Addr().Is4() {
		h.last = h.last.Prev()
	}
	return h
}

// deleted gives the ranges of a node that is gone to others.
func (a *allocator) deleted(m *capacity.Machine) error {
	n := a.nodes[m.Name]
	if n == nil {
		return nil
	}
	for i, at := range n.slices {
		a.clusters[i].taken[at] = false
	}
	delete(a.nodes, m.Name)
	return nil
}

// full reports whether no other node can be served.
func (a *allocator) full() bool {
	return slices.ContainsFunc(a.clusters, func(c *cluster) bool { return !slices.Contains(c.taken, false) })
}

// add is an ADD of host-local: an address of each of the node's ranges.
func (a *allocator) add(pod *capacity.Pod) (out []netip.Addr, err error) {
	n := a.nodes[pod.Node.Name]
	if n == nil {
		return nil, capacity.ErrNoAddress
	}
	for _, h := range n.hosts {
		addr, ok := h.reserve(pod)
		if !ok {
			return nil, cmp.Or(a.del(pod, pod.Container), capacity.ErrNoAddress)
		}
		out = append(out, addr)
	}
	return out, nil
}

// reserve takes the next free address after the last one that was handed out.
//
// Source: plugins/ipam/host-local/backend/allocator, RangeIter (v1.10.0).
func (h *host) reserve(pod *capacity.Pod) (netip.Addr, bool) {
	if h.last.Less(h.first) {
		return netip.Addr{}, false
	}
	start := h.first
	if h.after.IsValid() && h.after.Less(h.last) {
		start = h.after.Next()
	}
	for a, begun := start, false; !begun || a != start; {
		if begun = true; h.used[a] == "" {
			h.used[a], h.pods[a], h.after = pod.Container, pod.Ref, a
			return a, true
		}
		if a = a.Next(); h.last.Less(a) {
			a = h.first
		}
	}
	return netip.Addr{}, false
}

// del is a DEL.
func (a *allocator) del(pod *capacity.Pod, container string) error {
	n := a.nodes[pod.Node.Name]
	if n == nil {
		return nil
	}
	for _, h := range n.hosts {
		for addr, by := range h.used {
			if by == container {
				delete(h.used, addr)
				delete(h.pods, addr)
			}
		}
	}
	return nil
}

func (a *allocator) inUse() (sum int) {
	for _, n := range a.nodes {
		for _, h := range n.hosts {
			sum += len(h.used)
		}
	}
	return sum
}

// record is what the Node objects and the nodes' disks say.
func (a *allocator) record() (s model.Snapshot) {
	for name, n := range a.nodes {
		for _, h := range n.hosts {
			s.Pools = append(s.Pools, model.Pool{Name: h.pool, Range: h.in, Node: name})
			for addr, container := range h.used {
				s.Claims = append(s.Claims, model.Claim{Pool: h.pool, Addr: addr, Pod: h.pods[addr], Container: container, Node: name})
			}
		}
	}
	slices.SortFunc(s.Pools, func(x, y model.Pool) int { return cmp.Or(x.Range.Compare(y.Range), cmp.Compare(x.Name, y.Name)) })
	slices.SortFunc(s.Claims, func(x, y model.Claim) int { return cmp.Or(cmp.Compare(x.Pool, y.Pool), x.Addr.Compare(y.Addr)) })
	return s
}
