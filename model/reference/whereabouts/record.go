package whereabouts

import (
	"cmp"
	"maps"
	"net/netip"
	"slices"

	"ipamsim/model"
)

// Record is the content of the datastore: pools, reservations and node slices. It is not safe
// for concurrent use.
type Record struct {
	pools        map[string]*pool
	reservations map[guarded]reservation
	slices       map[string]*Slices // by name
}

// guarded is what a reservation is called after: see reservationName.
type guarded struct {
	network string
	addr    netip.Addr
}

type reservation struct {
	pod   model.PodRef
	iface string
}

// New is an empty datastore.
func New() *Record {
	return &Record{pools: map[string]*pool{}, reservations: map[guarded]reservation{}, slices: map[string]*Slices{}}
}

// Snapshot is the whole record, sorted as model.Snapshot says, without revisions.
func (r *Record) Snapshot() model.Snapshot {
	var s model.Snapshot
	for _, name := range slices.Sorted(maps.Keys(r.pools)) {
		p := r.pools[name]
		s.Pools = append(s.Pools, model.Pool{Name: name, Network: p.network, Range: p.prefix, Node: p.node})
		for _, x := range slices.Sorted(maps.Keys(p.claims)) {
			s.Claims = append(s.Claims, p.claim(x))
		}
	}
	slices.SortFunc(s.Pools, func(a, b model.Pool) int {
		return cmp.Or(cmp.Compare(a.Network, b.Network), a.Range.Compare(b.Range), cmp.Compare(a.Name, b.Name))
	})
	for g := range r.reservations {
		s.Reservations = append(s.Reservations, r.reservation(g))
	}
	slices.SortFunc(s.Reservations, func(a, b model.Reservation) int {
		return cmp.Or(cmp.Compare(a.Network, b.Network), a.Addr.Compare(b.Addr))
	})
	return s
}

func (r *Record) reservation(g guarded) model.Reservation {
	v := r.reservations[g]
	return model.Reservation{Name: reservationName(g.network, g.addr), Network: g.network, Addr: g.addr, Pod: v.pod, Interface: v.iface}
}

// Claimed is how many addresses the pools hold.
func (r *Record) Claimed() int {
	n := 0
	for _, p := range r.pools {
		n += len(p.claims)
	}
	return n
}

// The operators' hands: kubectl edit and kubectl delete.

// Release takes one allocation out of a pool, and leaves its reservation. It
// reports whether there was one.
func (r *Record) Release(pool string, a netip.Addr) bool {
	p := r.pools[pool]
	if p == nil {
		return false
	}
	x, ok := offset(p.prefix.Addr(), a)
	if _, there := p.claims[x]; !ok || !there {
		return false
	}
	p.remove(x)
	return true
}

// Reserve writes a reservation of an address for a pod, and replaces an existing one.
func (r *Record) Reserve(network string, a netip.Addr, pod model.PodRef, iface string) {
	r.reservations[guarded{network, a}] = reservation{pod, iface}
}

// DeletePool forgets a pool with its allocations.
func (r *Record) DeletePool(name string) { delete(r.pools, name) }

// DeleteReservation forgets a reservation.
func (r *Record) DeleteReservation(name string) {
	maps.DeleteFunc(r.reservations, func(g guarded, _ reservation) bool { return reservationName(g.network, g.addr) == name })
}
