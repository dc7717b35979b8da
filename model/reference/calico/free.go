package calico

import (
	"cmp"
	"maps"
	"net/netip"
	"slices"

	"ipamsim/model"
)

// Free is how many addresses of a family a node's next pods could be given, one
// after the other, if nobody else asked meanwhile. It is model.Free, a lower bound
// where blocks overlap, addresses are reserved or the limit of blocks comes into
// it, and saturates at model.FreeMax. A pod that gets both families needs both.
func (a *Allocator) Free(node string, v6 bool) int {
	s := a.Snapshot()
	return model.Free([]model.Network{a.Network(!v6, v6)}, s, "", node)
}

// Network is the policy that requests are served by, as model.Free and the oracles
// read it: of pods that get addresses of the given families, in namespaces without
// labels. Its key is "". Pools that were there before are not in it.
func (a *Allocator) Network(v4, v6 bool) model.Network {
	b := &model.BlockPolicy{
		Strict: a.Config.Strict, AutoAllocate: a.Config.AutoAllocate, MaxBlocks: cmp.Or(a.Config.MaxBlocks, reasonable), V4: v4, V6: v6,
	}
	nodes := slices.Sorted(maps.Keys(a.hosts))
	for _, p := range a.pools {
		x := model.IPPool{
			Name: p.Name, Prefix: p.Prefix, BlockBits: p.BlockBits, Disabled: p.Disabled, Manual: p.Manual,
			Workloads: p.allows(Workload), Tunnels: p.allows(Tunnel), Selective: p.NamespaceSelector != "" && p.NamespaceSelector != "all()",
		}
		for _, n := range nodes {
			if h := a.hosts[n]; h.known && p.selects(h) {
				x.Nodes = append(x.Nodes, n)
			}
		}
		b.Pools = append(b.Pools, x)
	}
	slices.SortStableFunc(b.Pools, func(x, y model.IPPool) int { return x.Prefix.Compare(y.Prefix) })
	n := model.Network{Blocks: b}
	for i := range b.Pools {
		p := b.Pools[i].Prefix
		n.Ranges = append(n.Ranges, model.Range{Prefix: p, Start: p.Addr(), End: model.LastAddr(p)})
	}
	b.Reserved = a.reservedPrefixes()
	return n
}

// reservedPrefixes are the fewest that say what is reserved.
func (a *Allocator) reservedPrefixes() (out []netip.Prefix) {
	for _, s := range a.reserved {
		for at := s.first; at.IsValid() && !s.last.Less(at); {
			p := netip.PrefixFrom(at, at.BitLen())
			for p.Bits() > 0 {
				wider := netip.PrefixFrom(at, p.Bits()-1)
				if wider.Masked() != wider || s.last.Less(model.LastAddr(wider)) {
					break
				}
				p = wider
			}
			out, at = append(out, p), model.LastAddr(p).Next()
		}
	}
	return out
}
