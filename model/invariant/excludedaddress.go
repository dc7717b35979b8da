package invariant

import (
	"fmt"
	"net/netip"
	"time"

	"ipamsim/model"
)

// Codes of ExcludedAddress: what takes the address out.
const (
	reservedAddress = "reserved" // a reservation of the pool's
	excludedAddress = "excluded" // the network's own ranges
)

// ExcludedAddress is an address the user took out of the range by name, usually
// because a machine outside the cluster has it. A sandbox may keep one that was
// reserved after its ADD began, and a pod may ask for a reserved one by name: that
// is what reservations are for.
var ExcludedAddress = define(Invariant{
	Name:     "excluded-address",
	Severity: model.Major,
	Phase:    Always,
	Doc:      "No live sandbox holds an address that its network excludes.",
}, func(v View) []finding {
	return eachHeld(v, func(h *holding) (code, text string) {
		x, since, ok := v.Past.since(func(r *rules) map[netip.Prefix]time.Duration { return r.reserved }, h.network.Key, h.addr)
		if ok && h.attachment.Asked {
			return "", ""
		}
		if ok && gotAfter(&v, h, since) {
			return reservedAddress, fmt.Sprintf("%s has %s since %s, which is reserved since %s (%s)", h.who(), h.addr, clock(h.attachment.Since), clock(since), x)
		}
		if !h.network.Spans(h.addr) || h.network.Allows(h.addr) {
			return "", ""
		}
		return excludedAddress, fmt.Sprintf("%s has %s since %s, which network %s excludes (%s)",
			h.who(), h.addr, clock(h.attachment.Since), h.attachment.Network, exclude(h.network, h.addr))
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
