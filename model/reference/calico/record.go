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
	for _, b := range a.sorted {
		p := b.prefix
		in := model.Pool{Name: blockName(p), Range: p}
		if b.owner != nil {
			in.Node = b.owner.name
		}
		s.Pools = append(s.Pools, in)
		free := model.Waiting{Block: p, Free: make([]int, b.waiting)}
		for i := range free.Free {
			free.Free[i] = int(b.at(int32(i)).queued)
		}
		s.Waiting = append(s.Waiting, free)
		for o := range b.slots {
			if b.slots[o].handle != nil {
				s.Claims = append(s.Claims, b.claim(in.Name, uint16(o)))
			}
		}
	}
	for _, h := range a.hosts {
		for _, all := range h.affinities {
			for _, x := range all {
				s.Affinities = append(s.Affinities, model.Affinity{Block: x.block.prefix, Node: h.name, State: model.Confirmed})
			}
		}
	}
	slices.SortFunc(s.Affinities, func(x, y model.Affinity) int {
		return cmp.Or(x.Block.Compare(y.Block), cmp.Compare(x.Node, y.Node))
	})
	for _, id := range slices.Sorted(maps.Keys(a.handles)) {
		if h := a.handles[id]; h.exists() {
			s.Handles = append(s.Handles, model.Handle{ID: id, Counts: h.list()})
		}
	}
	return s
}

// blockName is a block's name in etcd: 10.64.75.0-26.
func blockName(p netip.Prefix) string { return strings.Replace(p.String(), "/", "-", 1) }

func (b *block) claim(pool string, ordinal uint16) model.Claim {
	x := b.user(ordinal)
	c := model.Claim{Pool: pool, Addr: b.nth(ordinal), Pod: x.pod, Handle: b.slots[ordinal].handle.card.id, Node: x.node, Tunnel: x.tunnel}
	if dot := strings.LastIndexByte(c.Handle, '.'); dot >= 0 && x.pod.Name != "" {
		c.Container = c.Handle[dot+1:]
	}
	return c
}

// Waiting are the free addresses of a block in the order in which they will be
// handed out, the reserved ones among them; nil if there is no such block.
func (a *Allocator) Waiting(p netip.Prefix) []netip.Addr {
	b := a.block(p)
	if b == nil {
		return nil
	}
	out := make([]netip.Addr, b.waiting)
	for i := range out {
		out[i] = b.nth(b.at(int32(i)).queued)
	}
	return out
}
