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
	counts []count // in no order
	room   [1]count
	claims int32 // addresses that really are the handle's, in blocks that exist
	asked  int32 // requests that are looked up
	by     *user // the user of the handle in Asked, if known
	card   *card
}

// card is what few look at of a handle.
type card struct {
	id   string
	user user // of all requests with this handle, usually only one
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
			h = a.newHandle()
		}
		h.counts, h.by, h.card.id = h.counts[:0], nil, id
		a.handles[id] = h
		a.begins[begin(id)]++
	}
	return h
}

// begins is the number of bytes of a handle that identify its kind.
const begins = 4

// newHandle keeps those that many look at close together.
func (a *Allocator) newHandle() *handle {
	handles, cards := make([]handle, 128), make([]card, 128)
	for i := range handles {
		handles[i].card, handles[i].counts = &cards[i], handles[i].room[:0]
		a.spare = append(a.spare, &handles[i])
	}
	h := a.spare[len(a.spare)-1]
	a.spare = a.spare[:len(a.spare)-1]
	return h
}

// begin is a hash of how a handle begins. Handles of one kind begin alike, so that
// of most that were never there it is known without looking for them.
func begin[T string | []byte](id T) uint8 {
	var h uint8
	for i := range min(len(id), begins) {
		h = h*31 + id[i]
	}
	return h
}

// drop forgets a handle that nothing is left of.
func (a *Allocator) drop(h *handle) {
	if h.claims == 0 && h.asked == 0 && !h.exists() {
		delete(a.handles, h.card.id)
		a.begins[begin(h.card.id)]--
		a.spare = append(a.spare, h)
	}
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

// discount is decrementHandle; upstream only logs its failures.
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

// sharing is a handle whose addresses one operation releases, in one call or in several.
type sharing struct {
	before []model.HandleCount
	blocks []netip.Prefix
	raced  bool // goroutines of one call worked on it
}

func (a *Allocator) share(id string, p netip.Prefix) {
	if a.sharings[id] == nil {
		a.sharings[id] = &sharing{}
		if h := a.handles[id]; h != nil {
			a.sharings[id].before = h.list()
		}
	}
	a.sharings[id].blocks = append(a.sharings[id].blocks, p)
}

// list is what the handle counts, nil if it does not exist.
func (h *handle) list() (out []model.HandleCount) {
	for _, c := range h.counts {
		out = append(out, model.HandleCount{Block: c.block.prefix, Count: int(c.n)})
	}
	slices.SortFunc(out, func(x, y model.HandleCount) int { return x.Block.Compare(y.Block) })
	return out
}

// settle asks Nondeterminism what the operation left of handles that goroutines shared. Each
// goroutine may have counted down what the others did.
//
// Source: libcalico-go/lib/ipam/ipam.go, ReleaseIPs: handleMap.
func (a *Allocator) settle() {
	if len(a.sharings) == 0 {
		return
	}
	defer clear(a.sharings)
	for _, id := range slices.Sorted(maps.Keys(a.sharings)) {
		s := a.sharings[id]
		if a.Nondeterminism == nil || !s.raced || s.before == nil {
			continue
		}
		if left, exists := a.Nondeterminism.Left(id); s.allows(left) {
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
