package invariant

import (
	"net/netip"
	"time"

	"ipamsim/model"
)

// Codes of ExcludedAddress: what takes the address out.
const (
	reservedAddress = "reserved" // a reservation of the pool's
	excludedAddress = "excluded" // the network's own ranges
)

// ExcludedAddress is an address that the user has excluded from the range, usually because a
// machine outside the cluster uses it. A sandbox may keep an address that was reserved or excluded
// after its ADD began, and a pod may request a reserved address explicitly: this is the purpose of
// reservations.
var ExcludedAddress = define(Invariant{
	Name:     "excluded-address",
	Severity: model.Major,
	Phase:    Always,
	Doc:      "No live sandbox holds an address that its network excludes.",
	Kinds: []Kind{
		{reservedAddress, "{pod} on {node} has {address}[ since {since}], which is reserved[ since {rule-since}] ({range})"},
		{excludedAddress, "{pod} on {node} has {address}[ since {since}], which network {network} excludes ({range})"},
	},
	// A claim of the address is wrong whether it is new or not.
	Cause: CauseRule{Start: FromWrite, Write: WriteRule{Outcome: HandedOut}},
}, func(v View) []finding {
	return eachHeld(v, func(h *holding) (string, []model.Fact) {
		x, since, ok := v.Past.since(func(r *rules) map[netip.Prefix]time.Duration { return r.reserved }, h.network.Key, h.addr)
		if ok && h.attachment.Asked {
			return "", nil
		}
		if ok && gotAfter(&v, h, since) {
			return reservedAddress, []model.Fact{model.NewFact("rule-since", since), model.NewFact("range", rangeName(x))}
		}
		if !h.network.Spans(h.addr) || permitted(&v, h, func(n *model.Network) bool { return n.Allows(h.addr) }) {
			return "", nil
		}
		return excludedAddress, []model.Fact{model.NewFact("range", rangeName(exclude(h.network, h.addr)))}
	})
})

// gotAfter reports whether a sandbox asked for its address when a rule was already
// in force.
func gotAfter(v *View, h *holding, since time.Duration) bool {
	return h.attachment.Since > since && after(v, h.sandbox.ID, h.attachment.Interface, h.attachment.Since, since)
}

func exclude(n *model.Network, a netip.Addr) netip.Prefix {
	for _, r := range n.Ranges {
		for _, x := range r.Exclude {
			if r.Spans(a) && x.Contains(a) {
				return x
			}
		}
	}
	return netip.Prefix{}
}
