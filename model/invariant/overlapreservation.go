package invariant

import (
	"net/netip"

	"ipamsim/model"
)

// Codes of OverlapReservation.
const (
	NotReserved        = "not-reserved"
	reservedForAnother = "reserved-for-another" // pod
)

// OverlapReservation is a missing guard across overlapping ranges: another range can assign the
// address again. A sandbox has its address after its ADD has returned, so only its own DEL excuses
// it.
//
// A reservation for another interface of the pod suffices, because the guard only checks the pod.
// Two interfaces of one pod with one address are checked by duplicate-address.
//
// for the pod alone: what two interfaces of one share is duplicate-address' matter.
//
// Source: pkg/storage/kubernetes/ipam.go, IPManagementKubernetesUpdate (Whereabouts
// v0.9.4).
var OverlapReservation = define(Invariant{
	Name:     "overlap-reservation",
	Severity: model.Major,
	Phase:    Always,
	Doc:      "Where overlapping ranges are guarded, every live sandbox's address is reserved for its pod.",
	Kinds: []Kind{
		{NotReserved, "{pod} on {node} has {address} in network {network}[ since {since}], but nothing reserves it across overlapping ranges"},
		{reservedForAnother, "{pod} on {node} has {address} in network {network}[ since {since}], but across overlapping ranges it is reserved for {reserved-for}"},
	},
	Cause: CauseRule{
		Start: FromWrite, Rows: []model.RefKind{model.RefReservation}, Write: WriteRule{Reserves: true},
		Identity: Identity{Group: AddressLost},
	},
	Follows:  []string{"double-claim", "unbacked-sandbox"},
	Decision: "which pod keeps the address: the other one gets a new address only after it is deleted and its claim is released",
}, func(v View) []finding {
	held := hold(v)
	state := make([]guardState, len(held.list))
	for i := range v.Record.Reservations {
		r := &v.Record.Reservations[i]
		for j := held.of(r.Addr); j >= 0; j = held.list[j].same {
			if h := &held.list[j]; h.network != nil && h.network.Name == r.Network {
				state[j].by = r
				state[j].mine = state[j].mine || r.Pod == h.sandbox.Pod
			}
		}
	}
	var out []finding
	for i := range held.list {
		h := &held.list[i]
		if state[i].mine || h.network == nil || !h.network.Overlap || silent(&v, h.sandbox) {
			continue
		}
		out = append(out, unguarded(h, state[i].by))
	}
	return out
})

// guardState are the reservations for one holding.
type guardState struct {
	by   *model.Reservation // the last one of this address
	mine bool               // one of them names the holding's pod
}

func unguarded(h *holding, by *model.Reservation) finding {
	f := finding{
		code:    NotReserved,
		objects: []model.Ref{addressName(h), networkName(h.network.Key), model.PodOf(h.sandbox.Pod), nodeName(h.sandbox.Node)},
		facts:   []model.Fact{model.NewFact("since", h.attachment.Since)},
	}
	if by != nil {
		f.code, f.facts = reservedForAnother, append(f.facts, model.NewFact("reserved-for", model.PodOf(by.Pod)))
	}
	return f
}

// guard is the key of a reservation.
type guard struct {
	network string // network_name
	addr    netip.Addr
}
