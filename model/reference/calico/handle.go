package calico

import (
	"maps"
	"net/netip"
	"slices"

	"ipamsim/model"
)

// handle counts what one owner has in which block. Upstream lets it lie: it counts
// more than there is if an operator deleted the block, and less if one call
// released two addresses of one handle. One that counts nothing does not exist, but
// may be named all the same.
type handle struct {
	first  allocation // of all who have asked with this handle, and mostly the only one
	by     uint64     // who wrote it: the number of an Asked, or 0
	counts []count    // in no order
	claims int32      // addresses that really are the handle's, in blocks that exist
	others int32      // of these, under another allocation than first
	room   [2]count
	asked  int // requests that are looked up
	id     string
}

type count struct {
	block *block
	n     int32
	last  uint16 // ordinal that was taken, the last of several
}

func (h *handle) exists() bool { return len(h.counts) > 0 }

func (h *handle) find(b *block) *count {
	for i := range h.counts {
		if h.counts[i].block == b {
			return &h.counts[i]
		}
	}
	return nil
}

// named is the handle of an id, whether it exists or not.
func (a *Allocator) named(id string) *handle {
	h := a.handles[id]
	if h == nil {
		if n := len(a.spare); n > 0 {
			h, a.spare = a.spare[n-1], a.spare[:n-1]
		} else {
			h = &handle{}
		}
		*h = handle{id: id}
		h.counts = h.room[:0]
		a.handles[id] = h
		a.begins[begin(id)]++
	}
	return h
}

// begin is a hash of how a handle begins. Handles of one kind begin alike, so that
// of most that were never there it is known without looking for them.
func begin[T string | []byte](id T) uint8 {
	var h uint8
	for i := range min(len(id), 4) {
		h = h*31 + id[i]
	}
	return h
}

// drop forgets a handle that nothing is left of.
func (a *Allocator) drop(h *handle) {
	if h.claims == 0 && h.asked == 0 && !h.exists() {
		delete(a.handles, h.id)
		a.begins[begin(h.id)]--
		a.spare = append(a.spare, h)
	}
}

// allocation is what blocks will say of addresses that are asked for with the
// handle.
func (h *handle) allocation(o owner) *allocation {
	if h.claims == 0 {
		h.first, h.by = allocation{h, o}, 0
	}
	if h.first.owner == o {
		return &h.first
	}
	return &allocation{h, o}
}

// count is incrementHandle.
func (a *Allocator) count(h *handle, b *block, n int) *count {
	c := h.find(b)
	if c == nil {
		b.names++
		h.counts = append(h.counts, count{block: b})
		c = &h.counts[len(h.counts)-1]
	}
	c.n += int32(n)
	return c
}

// discount is decrementHandle, whose failures upstream only logs.
func (a *Allocator) discount(h *handle, b *block, n int) {
	c := h.find(b)
	if c == nil || c.n < int32(n) {
		return
	}
	if c.n -= int32(n); c.n > 0 {
		return
	}
	*c = h.counts[len(h.counts)-1]
	h.counts = h.counts[:len(h.counts)-1]
	b.names--
	a.vacate(b)
	a.drop(h)
}

// sharing is a handle of which one operation releases addresses in one call, or
// several.
type sharing struct {
	before []model.HandleCount
	blocks []netip.Prefix
	raced  bool // goroutines of one call worked on it
}

func (a *Allocator) share(id string, p netip.Prefix) {
	if a.shared[id] == nil {
		a.shared[id] = &sharing{}
		if h := a.handles[id]; h != nil {
			a.shared[id].before = h.list()
		}
	}
	a.shared[id].blocks = append(a.shared[id].blocks, p)
}

// list is what the handle counts, nil if it does not exist.
func (h *handle) list() (out []model.HandleCount) {
	for _, c := range h.counts {
		out = append(out, model.HandleCount{Block: c.block.prefix, Count: int(c.n)})
	}
	slices.SortFunc(out, func(x, y model.HandleCount) int { return x.Block.Compare(y.Block) })
	return out
}

// settle asks Whim what the operation has left of handles that goroutines shared.
// Each of them may have counted down what the others did.
//
// Source: libcalico-go/lib/ipam/ipam.go, ReleaseIPs: handleMap.
func (a *Allocator) settle() {
	if len(a.shared) == 0 {
		return
	}
	defer clear(a.shared)
	for _, id := range slices.Sorted(maps.Keys(a.shared)) {
		s := a.shared[id]
		if a.Whim == nil || !s.raced || s.before == nil {
			continue
		}
		if left, exists := a.Whim.Left(id); s.allows(left) {
			if !exists {
				left = nil
			}
			a.setCounts(id, left)
		}
	}
}

// setCounts makes a handle count something else.
func (a *Allocator) setCounts(id string, left []model.HandleCount) {
	h := a.named(id)
	h.asked++
	for _, c := range slices.Clone(h.counts) {
		a.discount(h, c.block, int(c.n))
	}
	for _, c := range left {
		a.count(h, a.place(c.Block), c.Count)
	}
	h.asked--
	a.drop(h)
}

// allows reports whether nothing was counted up, or down in other blocks.
func (s *sharing) allows(left []model.HandleCount) bool {
	for _, c := range s.before {
		n := 0
		if i := slices.IndexFunc(left, func(x model.HandleCount) bool { return x.Block == c.Block }); i >= 0 {
			n = left[i].Count
		}
		if n > c.Count || n != c.Count && !slices.Contains(s.blocks, c.Block) {
			return false
		}
	}
	return !slices.ContainsFunc(left, func(x model.HandleCount) bool {
		return !slices.ContainsFunc(s.before, func(c model.HandleCount) bool { return c.Block == x.Block })
	})
}
