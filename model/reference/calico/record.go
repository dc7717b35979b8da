package calico

import (
	"cmp"
	"maps"
	"net/netip"
	"slices"
	"strings"

	"ipamsim/model"
)

// Snapshot is the record: blocks with their free lists, claims, affinities and
// handles, sorted as model.Snapshot says, as sim/ipam/calico observes the real one.
// Revisions, the policy and the time are left to others.
func (a *Allocator) Snapshot() model.Snapshot {
	var s model.Snapshot
	for _, p := range slices.SortedFunc(maps.Keys(a.blocks), netip.Prefix.Compare) {
		b := a.blocks[p]
		in := model.Pool{Name: blockName(p), Range: p}
		if b.owner != nil {
			in.Node = b.owner.name
		}
		s.Pools = append(s.Pools, in)
		free := model.Waiting{Block: p, Free: make([]int, len(b.waiting))}
		for i, o := range b.waiting {
			free.Free[i] = int(o)
		}
		s.Waiting = append(s.Waiting, free)
		for o, x := range b.held {
			if x != nil {
				s.Claims = append(s.Claims, x.claim(in.Name, b.nth(uint16(o))))
			}
		}
	}
	for _, h := range a.hosts {
		for _, all := range h.affinities {
			for _, x := range all {
				s.Affinities = append(s.Affinities, model.Affinity{Block: x.block, Node: h.name, State: model.Confirmed})
			}
		}
	}
	slices.SortFunc(s.Affinities, func(x, y model.Affinity) int {
		return cmp.Or(x.Block.Compare(y.Block), cmp.Compare(x.Node, y.Node))
	})
	for _, id := range slices.Sorted(maps.Keys(a.handles)) {
		h := model.Handle{ID: id}
		for _, c := range a.handles[id].counts {
			h.Counts = append(h.Counts, model.HandleCount{Block: c.block, Count: c.n})
		}
		slices.SortFunc(h.Counts, func(x, y model.HandleCount) int { return x.Block.Compare(y.Block) })
		s.Handles = append(s.Handles, h)
	}
	return s
}

// blockName is a block's name in etcd: 10.64.75.0-26.
func blockName(p netip.Prefix) string { return strings.Replace(p.String(), "/", "-", 1) }

func (x *allocation) claim(pool string, addr netip.Addr) model.Claim {
	c := model.Claim{Pool: pool, Addr: addr, Pod: x.pod, Handle: x.handle, Node: x.node, Tunnel: x.tunnel}
	if dot := strings.LastIndexByte(x.handle, '.'); dot >= 0 && x.pod.Name != "" {
		c.Container = x.handle[dot+1:]
	}
	return c
}

// Waiting are the free addresses of a block in the order in which they will be
// handed out, the reserved ones among them; nil if there is no such block.
func (a *Allocator) Waiting(p netip.Prefix) []netip.Addr {
	b := a.blocks[p]
	if b == nil {
		return nil
	}
	out := make([]netip.Addr, len(b.waiting))
	for i, o := range b.waiting {
		out[i] = b.nth(o)
	}
	return out
}
