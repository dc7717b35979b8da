package coverage

import (
	"maps"
	"net/netip"
	"slices"

	"ipamsim/model"
)

// Allocators returns hashes of the states of the allocator's record, sorted. A state is, without
// names, the claimed or reserved addresses of each pool, by their distance from its beginning, and
// the owner of each block. A reference allocator (model/reference) continues from the same data,
// except for the order in which a block's free addresses are used. Runs in one state may differ in
// the names of pods and nodes, in ranges, and in the counts of handles.
//
// Pools and nodes are numbered in the order in which they first occur. A pool whose range changes keeps
// its number.
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

// allocator is a record as the sum of the hashes of its rows, which does not depend on their order.
type allocator struct {
	state uint64
	rows  map[row]uint64
	names map[model.Ref]uint64 // pools and nodes
}

// row identifies a row of the record.
type row struct {
	kind     model.RefKind
	name, of string
}

// apply changes the record. A row is removed with the hash with which it was added, even if it has
// changed since.
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

// rowOf identifies a row by what does not change during its existence.
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

// hash returns the hash of a row.
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
			if c.Row != model.RefAddress { // the node of a claim is its pod's
				h = mixed(h, a.nth(r))
			}
		}
	}
	if addr.IsValid() {
		from := addr
		if pool.IsValid() {
			from = pool.Addr()
		} else if p, err := addr.Prefix(addr.BitLen() - 8); err == nil {
			from = p.Addr() // of a reservation, which has no pool
		}
		h = mixed(h, low(addr)-low(from))
	}
	return h
}

// nth returns the number of a name, in the order in which names first occur.
func (a *allocator) nth(r model.Ref) uint64 {
	n, ok := a.names[r]
	if !ok {
		n = uint64(len(a.names)) + 1
		a.names[r] = n
	}
	return n
}

// low returns the last 64 bits of an address.
func low(a netip.Addr) (n uint64) {
	b := a.As16()
	for _, x := range b[8:] {
		n = n<<8 | uint64(x)
	}
	return n
}

// mixed adds x to a hash such that sums of hashes do not collide: the function of splitmix64.
func mixed(h, x uint64) uint64 {
	h += x*0x9e3779b97f4a7c15 + 0x632be59bd9b4e019
	h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
	h = (h ^ h>>27) * 0x94d049bb133111eb
	return h ^ h>>31
}
