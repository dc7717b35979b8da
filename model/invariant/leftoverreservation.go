package invariant

import "ipamsim/model"

// LeftoverReservation is a reserved address that no range can assign any more, although it is in
// use in no pool. A reservation without a pod was made manually, to keep the address unused. A
// reservation that a CNI call of its pod under way has made, or is about to delete, is not left
// over.
var LeftoverReservation = define(Invariant{
	Name:     "leftover-reservation",
	Severity: model.Minor,
	Phase:    Quiescent,
	Doc:      "Once all is calm, every reservation across overlapping ranges has a claim behind it.",
	Kinds:    []Kind{{"", "{address} stays reserved for {pod} across overlapping ranges ({reservation}), but no pool claims it"}},
	Cause: CauseRule{
		Start: FromRelease, Rows: []model.RefKind{model.RefReservation},
		Identity: Identity{Group: LeftOver},
	},
	Follows: []string{"leaked-claim", "overlap-reservation", "reservation-count", "unbacked-sandbox"},
	Effect:  "the address is not assigned again",
	Keep:    KeepCollectors,
}, func(v View) []finding {
	if deserted(&v) || underWay(&v) {
		return nil
	}
	busy := busyPods(&v, anyCall)
	claimed := make(map[guard]bool, len(v.Record.Claims))
	for i := range v.Record.Claims {
		claimed[guard{v.Record.Claims[i].Network, v.Record.Claims[i].Addr}] = true
	}
	var out []finding
	for i := range v.Record.Reservations {
		r := &v.Record.Reservations[i]
		if claimed[guard{r.Network, r.Addr}] || r.Pod == (model.PodRef{}) || busy[r.Pod] {
			continue
		}
		out = append(out, finding{
			objects: []model.Ref{model.AddressOf(r.Addr), reservationName(r.Name), model.PodOf(r.Pod)},
		})
	}
	return out
})
