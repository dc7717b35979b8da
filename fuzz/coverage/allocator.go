package coverage

import (
	"maps"
	"net/netip"
	"slices"

	"ipamsim/model"
)

// Allocators are the states that the allocator's record was in, sorted, without names: which
// addresses of which pool are claimed or reserved, by their distance from its beginning, and
// which block is whose. That is what a reference allocator (model/reference) goes on from, but
// for the order in which a block's free addresses come; two runs that are in one state give the
// same answers next, whatever their pods, nodes and ranges are called.
//
// Pools and nodes are told apart by the order in which they come.
func Allocators(l *model.Ledger) []uint64 {
	if l == nil {
		return nil
	}
	states := map[uint64]bool{}
	a := &allocator{names: map[model.Ref]uint64{}}
	for i := range l.Changes {
		c := &l.Changes[i]
		switch h := a.row(c); {
		case c.Came:
			a.state += h
		case c.Gone:
			a.state -= h
		}
		if i+1 == len(l.Changes) || l.Changes[i+1].Step != c.Step {
			states[a.state] = true
		}
	}
	return slices.Sorted(maps.Keys(states))
}

// allocator is a record, as a sum of its rows: in whatever order they came, it is the same.
type allocator struct {
	state uint64
	names map[model.Ref]uint64 // pools and nodes
}

// row is a hash of a row.
func (a *allocator) row(c *model.Change) uint64 {
	var addr netip.Addr
	var pool netip.Prefix
	h := fnv(offset64, []byte(c.Row))
	for _, r := range c.Refs {
		switch r.Kind {
		case model.RefAddress:
			addr, _ = netip.ParseAddr(r.Name)
		case model.RefBlock:
			pool, _ = netip.ParsePrefix(r.Name)
			h = mixed(h, a.nth(r)<<8|uint64(pool.Bits()))
		case model.RefNode:
			if c.Row != model.RefAddress { // of a claim it is its pod's
				h = mixed(h, a.nth(r))
			}
		}
	}
	if addr.IsValid() {
		from := addr
		if pool.IsValid() {
			from = pool.Addr()
		} else if p, err := addr.Prefix(addr.BitLen() - 8); err == nil {
			from = p.Addr() // of a reservation, which names no pool
		}
		h = mixed(h, low(addr)-low(from))
	}
	return h
}

// nth numbers a name by when it first came.
func (a *allocator) nth(r model.Ref) uint64 {
	n, ok := a.names[r]
	if !ok {
		n = uint64(len(a.names)) + 1
		a.names[r] = n
	}
	return n
}

// low is an address's last 64 bits.
func low(a netip.Addr) (n uint64) {
	b := a.As16()
	for _, x := range b[8:] {
		n = n<<8 | uint64(x)
	}
	return n
}

// mixed goes on with a hash so that sums of hashes do not collide: splitmix64's.
func mixed(h, x uint64) uint64 {
	h += x*0x9e3779b97f4a7c15 + 0x632be59bd9b4e019
	h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
	h = (h ^ h>>27) * 0x94d049bb133111eb
	return h ^ h>>31
}
