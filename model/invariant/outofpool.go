package invariant

import (
	"fmt"
	"net/netip"
	"time"

	"ipamsim/model"
)

// OutOfPool is an address that belongs to somebody else: a router, another
// network, or nobody. With node slices the network's ranges still bound it. A pool
// that is disabled gives nothing to an ADD that begins afterwards.
var OutOfPool = define(Invariant{
	Name:     "out-of-pool",
	Severity: model.Critical,
	Phase:    Always,
	Doc:      "Every live sandbox's address lies in a range of its network.",
}, func(v View) []finding {
	return eachHeld(v, func(h *holding) string {
		x, since, ok := v.Past.since(func(r *rules) map[netip.Prefix]time.Duration { return r.disabled }, h.network.Key, h.addr)
		if ok && gotAfter(&v, h, since) {
			return fmt.Sprintf("%s has %s since %s, of pool %s, which is disabled since %s", h.who(), h.addr, clock(h.attachment.Since), x, clock(since))
		}
		if h.network.Spans(h.addr) {
			return ""
		}
		return fmt.Sprintf("%s has %s since %s, outside every range of network %s",
			h.who(), h.addr, clock(h.attachment.Since), h.attachment.Network)
	})
})

// eachHeld judges every address that live sandboxes hold under a policy by
// itself; say returns the message, or "" if all is well.
func eachHeld(v View, say func(*holding) string) []finding {
	var out []finding
	held := hold(v)
	for i := range held.list {
		h := &held.list[i]
		if h.network == nil {
			continue
		}
		if m := say(h); m != "" {
			out = append(out, finding{m, []model.Ref{addressName(h), networkName(h.network.Key), model.PodOf(h.sandbox.Pod), nodeName(h.sandbox.Node)}})
		}
	}
	return out
}
