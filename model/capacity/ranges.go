package capacity

import (
	"net/netip"
	"slices"

	"ipamsim/model"
)

// ranges measures networks without blocks: Size and Stranded. An address is in use if it is claimed
// in a pool of the network. A node can get every free address of a range or, with node slices, the
// free addresses of its own slice except the first and the last; a node whose slice has no pool yet
// counts as a node without a slice.
func (s *snapshot) ranges(out *Sample) {
	type key struct {
		name       string
		start, end netip.Addr
	}
	counted := map[key]bool{}
	up := 0
	for i := range s.nodes {
		if s.nodes[i].up {
			up++
		}
	}
	for i := range s.networks {
		n := &s.networks[i]
		for j := range n.Ranges {
			r := &n.Ranges[j]
			if k := (key{n.Name, r.Start, r.End}); n.Blocks != nil || counted[k] {
				continue // another network hands out the same ones
			} else {
				counted[k] = true
			}
			size := r.FreeBetween(r.Start, r.End, nil)
			out.Size += size
			if n.Slice == 0 {
				continue
			}
			used, reach := s.sliced(n, r)
			s.stranded += ((size-used)*up - reach) * parts
		}
	}
}

// sliced is how many addresses of a range are in use, and what nodes that are up
// can be given, all together.
func (s *snapshot) sliced(n *model.Network, r *model.Range) (used, reach int) {
	byPool := map[string][]netip.Addr{}
	for i := range s.Claims {
		if c := &s.Claims[i]; r.Contains(c.Addr) {
			byPool[c.Pool] = append(byPool[c.Pool], c.Addr)
		}
	}
	for _, all := range byPool {
		slices.SortFunc(all, netip.Addr.Compare)
	}
	for i := range s.Pools {
		p := &s.Pools[i]
		if !n.Owns(p) || !r.Prefix.Contains(p.Range.Addr()) {
			continue
		}
		used += len(byPool[p.Name])
		at, ok := s.at[p.Node]
		if first, last := p.Range.Masked().Addr().Next(), model.LastAddr(p.Range).Prev(); ok && s.nodes[at].up {
			reach += r.FreeBetween(first, last, byPool[p.Name])
		}
	}
	return used, reach
}
