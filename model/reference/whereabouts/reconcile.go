package whereabouts

import (
	"cmp"
	"slices"

	"ipamsim/model"
)

// Pass contains what one pass of a reconciler removed, in its order: allocations by the name of
// their pool, one write each (within a pool upstream has no order; here it is the order of
// addresses), then reservations by name, one by one.
type Pass struct {
	Claims       []model.Claim
	Reservations []model.Reservation
}

// Reconcile is one pass over all pools and reservations. Both are checked before anything is
// removed. pods are the pods of the API server, in any order.
//
// Source: pkg/reconciler, NewReconcileLooperWithClient, ReconcileIPPools,
// ReconcileOverlappingIPAddresses (v0.9.4).
func (r *Record) Reconcile(rule Rule, pods []Pod) Pass {
	type seen struct {
		*Pod
		served bool // by some pool: only then its reservations are its own
	}
	present, none := make(map[model.PodRef]*seen, len(pods)), &seen{}
	for i, p := range pods {
		if !p.Marked {
			present[p.Ref] = &seen{Pod: &pods[i]}
		}
	}
	var pass Pass
	for _, p := range r.pools {
		for x, c := range p.claims {
			s := cmp.Or(present[c.pod], none)
			s.served = true
			if rule.Orphaned(Claimed{Pod: c.pod, Address: at(p.prefix.Addr(), x).String()}, s.Pod) {
				pass.Claims = append(pass.Claims, p.claim(x))
			}
		}
	}
	for g, v := range r.reservations {
		s := cmp.Or(present[v.pod], none)
		if !s.served {
			s = none
		}
		if rule.Orphaned(Claimed{Pod: v.pod, Address: Denormalized(reservationName(g.network, g.addr)), Reservation: true}, s.Pod) {
			pass.Reservations = append(pass.Reservations, r.reservation(g))
		}
	}
	slices.SortFunc(pass.Claims, func(a, b model.Claim) int { return cmp.Or(cmp.Compare(a.Pool, b.Pool), a.Addr.Compare(b.Addr)) })
	slices.SortFunc(pass.Reservations, func(a, b model.Reservation) int { return cmp.Compare(a.Name, b.Name) })
	for _, c := range pass.Claims {
		r.Release(c.Pool, c.Addr)
	}
	for _, v := range pass.Reservations {
		delete(r.reservations, guarded{v.Network, v.Addr})
	}
	return pass
}
