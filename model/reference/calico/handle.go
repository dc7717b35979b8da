package calico

import (
	"net/netip"
	"slices"
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
