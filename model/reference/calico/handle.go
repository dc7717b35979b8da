package calico

import (
	"maps"
	"net/netip"
	"slices"

	"ipamsim/model"
)

// handle counts what one owner has in which block. Upstream lets it lie: it counts
// more than there is if an operator deleted the block, and less if one call
// released two addresses of one handle.
type handle struct {
	counts []count // in no order
}

type count struct {
	block netip.Prefix
	n     int
}

func (h *handle) find(p netip.Prefix) int {
	return slices.IndexFunc(h.counts, func(c count) bool { return c.block == p })
}

// count is incrementHandle.
func (a *Allocator) count(id string, p netip.Prefix, n int) {
	h := a.handles[id]
	if h == nil {
		h = &handle{}
		a.handles[id] = h
	}
	if i := h.find(p); i >= 0 {
		h.counts[i].n += n
		return
	}
	h.counts = append(h.counts, count{p, n})
}

// discount is decrementHandle, whose failures upstream only logs.
func (a *Allocator) discount(id string, p netip.Prefix, n int) {
	h := a.handles[id]
	if h == nil {
		return
	}
	i := h.find(p)
	if i < 0 || h.counts[i].n < n {
		return
	}
	if h.counts[i].n -= n; h.counts[i].n == 0 {
		h.counts = slices.Delete(h.counts, i, i+1)
	}
	if len(h.counts) == 0 {
		delete(a.handles, id)
	}
}

// sharing is a handle of which one operation releases addresses in one call, or
// several.
type sharing struct {
	before []count
	blocks []netip.Prefix
	raced  bool // goroutines of one call worked on it
}

func (a *Allocator) share(id string, p netip.Prefix) {
	if a.shared[id] == nil {
		a.shared[id] = &sharing{}
		if h := a.handles[id]; h != nil {
			a.shared[id].before = slices.Clone(h.counts)
		}
	}
	a.shared[id].blocks = append(a.shared[id].blocks, p)
}

// settle asks Whim what the operation has left of handles that goroutines shared.
// Each of them may have counted down what the others did.
//
// Source: libcalico-go/lib/ipam/ipam.go, ReleaseIPs: handleMap.
func (a *Allocator) settle() {
	defer clear(a.shared)
	for _, id := range slices.Sorted(maps.Keys(a.shared)) {
		s := a.shared[id]
		if a.Whim == nil || !s.raced || s.before == nil {
			continue
		}
		left, exists := a.Whim.Left(id)
		if !s.allows(left) {
			continue
		}
		if delete(a.handles, id); exists {
			h := &handle{}
			for _, c := range left {
				h.counts = append(h.counts, count{c.Block, c.Count})
			}
			a.handles[id] = h
		}
	}
}

// allows reports whether nothing was counted up, or down in other blocks.
func (s *sharing) allows(left []model.HandleCount) bool {
	for _, c := range s.before {
		n := 0
		if i := slices.IndexFunc(left, func(x model.HandleCount) bool { return x.Block == c.block }); i >= 0 {
			n = left[i].Count
		}
		if n > c.n || n != c.n && !slices.Contains(s.blocks, c.block) {
			return false
		}
	}
	return !slices.ContainsFunc(left, func(x model.HandleCount) bool {
		return !slices.ContainsFunc(s.before, func(c count) bool { return c.block == x.Block })
	})
}
