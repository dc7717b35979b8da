package invariant

import (
	"fmt"
	"net/netip"

	"ipamsim/model"
)

// ExcludedAddress is an address the user took out of the range by name, usually
// because a machine outside the cluster has it.
var ExcludedAddress = define(Invariant{
	Name:     "excluded-address",
	Severity: model.Major,
	Phase:    Always,
	Doc:      "No live sandbox holds an address that its network excludes.",
}, func(v View) []finding {
	return eachHeld(v, func(h *holding) string {
		if !h.network.Spans(h.addr) || h.network.Allows(h.addr) {
			return ""
		}
		return fmt.Sprintf("%s has %s since %s, which network %s excludes (%s)",
			h.who(), h.addr, clock(h.attachment.Since), h.attachment.Network, exclude(h.network, h.addr))
	})
})

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
