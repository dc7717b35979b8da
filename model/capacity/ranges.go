package capacity

import (
	"net/netip"
	"slices"

	"ipamsim/model"
)

// ranges measures networks without blocks: Size and Stranded. What is in use is
// claimed in a pool of the network. A node can be given everything of a range that
// is free, or, with node slices, what is free in its own slice but for the first
// and the last address; one whose slice has no pool yet is taken for one without.
func (s *scene) ranges(out *Sample) {
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
			size := free(r, r.Start, r.End, nil)
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
func (s *scene) sliced(n *model.Network, r *model.Range) (used, reach int) {
	byPool := map[string][]netip.Addr{}
	for i := range s.Claims {
		if c := &s.Claims[i]; r.Contains(c.Addr) {
			byPool[c.Pool] = append(byPool[c.Pool], c.Addr)
		}
	}
	for i := range s.Pools {
		p := &s.Pools[i]
		if !n.Owns(p) || !r.Prefix.Contains(p.Range.Addr()) {
			continue
		}
		used += len(byPool[p.Name])
		at, ok := s.at[p.Node]
		if first, last := p.Range.Masked().Addr().Next(), model.LastAddr(p.Range).Prev(); ok && s.nodes[at].up {
			reach += free(r, first, last, byPool[p.Name])
		}
	}
	return used, reach
}

// free is how many addresses of a range from one to another may be handed out and
// are not in use.
func free(r *model.Range, first, last netip.Addr, used []netip.Addr) int {
	first, last = later(first, r.Start), earlier(last, r.End)
	n := span(first, last)
	for _, x := range outermost(r.Exclude) {
		if x.Addr().Is4() == first.Is4() {
			n -= span(later(first, x.Addr()), earlier(last, model.LastAddr(x)))
		}
	}
	return n - len(slices.DeleteFunc(slices.Clone(used), func(a netip.Addr) bool { return a.Less(first) || last.Less(a) }))
}

func later(a, b netip.Addr) netip.Addr {
	if a.Less(b) {
		return b
	}
	return a
}

func earlier(a, b netip.Addr) netip.Addr {
	if a.Less(b) {
		return a
	}
	return b
}

// span is how many addresses there are from one to another, both included.
func span(first, last netip.Addr) int {
	if last.Less(first) {
		return 0
	}
	a, b := first.As16(), last.As16()
	n := 0
	for i := range a {
		if n = n<<8 + int(b[i]) - int(a[i]); n > addressesMost {
			return addressesMost
		}
	}
	return n + 1
}
