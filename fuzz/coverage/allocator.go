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
// for the order in which a block's free addresses come; runs in one state differ in what pods,
// nodes and ranges are called, and in what handles count.
//
// Pools and nodes are told apart by the order in which they come. A pool whose range is changed
// counts as before.
func Allocators(l *model.Ledger) []uint64 {
	if l == nil {
		return nil
	}
	states := map[uint64]bool{}
	a := &allocator{rows: map[row]uint64{}, names: map[model.Ref]uint64{}}
	for i := range l.Changes {
		c := &l.Changes[i]
		a.apply(c)
		if i+1 == len(l.Changes) || l.Changes[i+1].Step != c.Step {
			states[a.state] = true
		}
	}
	return slices.Sorted(maps.Keys(states))
}

// allocator is a record, as a sum of its rows: in whatever order they came, it is the same.
type allocator struct {
	state uint64
	rows  map[row]uint64
	names map[model.Ref]uint64 // pools and nodes
}

// row is which row of the record it is.
type row struct {
	kind     model.RefKind
	name, of string
}

// apply changes the record. A row goes as what it came as, whatever it is about since.
func (a *allocator) apply(c *model.Change) {
	if c.Row == model.RefHandle || !c.Came && !c.Gone {
		return
	}
	r := rowOf(c)
	a.state -= a.rows[r]
	delete(a.rows, r)
	if c.Came {
		a.rows[r] = a.hash(c)
		a.state += a.rows[r]
	}
}

// rowOf names a row by what does not change while it is there.
func rowOf(c *model.Change) row {
	r := row{kind: c.Row}
	for _, x := range c.Refs {
		switch {
		case x.Kind == c.Row:
			r.name = x.Name
		case c.Row == model.RefAddress && x.Kind == model.RefPool, c.Row == model.RefBlock && x.Kind == model.RefNode:
			r.of = x.Name
		}
	}
	return r
}

// hash of a row.
func (a *allocator) hash(c *model.Change) uint64 {
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
