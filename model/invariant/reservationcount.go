package invariant

import (
	"slices"

	"ipamsim/model"
)

// ReservationCount is a reservation that guards nothing and that a CNI call of its pod has made, or
// should have deleted: no range can assign the address any more. Claims without a reservation
// belong to OverlapReservation.
//
// It is checked when a call has succeeded undisturbed, after the duration young: a reconciler that
// releases the same address deletes claim and reservation one after the other.
var ReservationCount = define(Invariant{
	Name:     "reservation-count",
	Severity: model.Minor,
	Phase:    Always,
	Doc:      "A CNI call that succeeds leaves no reservation across overlapping ranges without a claim.",
	Kinds: []Kind{
		{neverClaimed, "{address} stays reserved for {pod} across overlapping ranges ({reservation}) after its {call} at {at}, and was never claimed for it"},
		{nothingClaimed, "{address} stays reserved for {pod} across overlapping ranges ({reservation}) after its {call} at {at}, and is no longer claimed"},
	},
	Cause: CauseRule{
		Start: FromRelease, NamesCall: true, Rows: []model.RefKind{model.RefReservation},
		Identity: Identity{Group: LeftOver},
	},
	Follows: []string{"overlap-reservation", "unbacked-sandbox", "unreleased-claim"},
}, func(v View) []finding {
	if v.Past == nil {
		return nil
	}
	return v.Past.calls.overreserved
})

// reservedByCall are the reservations that a call which has ended answers for: those
// that came since its container's first call, and those of addresses that the container
// had.
func (c *calls) reservedByCall(v *View, e *model.Event) (out []*model.Reservation) {
	x := c.containers[e.Container]
	if x == nil {
		return nil
	}
	n := model.NetworkByKey(v.Networks, e.Network)
	for i := range v.Record.Reservations {
		r := &v.Record.Reservations[i]
		if r.Pod == e.Pod && r.Interface == e.Interface && n != nil && r.Network == n.Name &&
			(slices.Contains(x.had, r.Addr) || !slices.Contains(x.reserved, r.Name)) {
			out = append(out, r)
		}
	}
	return out
}

// guards reports whether a reservation has a claim behind it.
func guards(v *View, r *model.Reservation) bool {
	return slices.ContainsFunc(v.Record.Claims, func(c model.Claim) bool { return c.Addr == r.Addr && c.Network == r.Network })
}

func overreserved(r *model.Reservation, x *container, e *model.Event) finding {
	code := neverClaimed
	if slices.Contains(x.had, r.Addr) {
		code = nothingClaimed
	}
	return finding{
		code:    code,
		objects: []model.Ref{model.AddressOf(r.Addr), reservationName(r.Name), model.PodOf(r.Pod)},
		facts:   []model.Fact{model.NewFact("call", callName(e)), model.NewFact("at", e.At)},
	}
}
