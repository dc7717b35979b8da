package invariant

import (
	"fmt"
	"net/netip"
	"time"

	"ipamsim/model"
)

// Codes of OutOfPool.
const (
	disabledPool  = "disabled-pool"
	outsideRanges = "outside-ranges"
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
	return eachHeld(v, func(h *holding) (code, text string) {
		x, since, ok := v.Past.since(func(r *rules) map[netip.Prefix]time.Duration { return r.disabled }, h.network.Key, h.addr)
		if ok && gotAfter(&v, h, since) {
			return disabledPool, fmt.Sprintf("%s has %s since %s, of pool %s, which is disabled since %s", h.who(), h.addr, clock(h.attachment.Since), x, clock(since))
		}
		if h.network.Spans(h.addr) {
			return "", ""
		}
		return outsideRanges, fmt.Sprintf("%s has %s since %s, outside every range of network %s",
			h.who(), h.addr, clock(h.attachment.Since), h.attachment.Network)
	})
})

// eachHeld judges every address that live sandboxes hold under a policy by
// itself; say returns code and message, or "" if all is well.
func eachHeld(v View, say func(*holding) (code, text string)) []finding {
	var out []finding
	held := hold(v)
	for i := range held.list {
		h := &held.list[i]
		if h.network == nil {
			continue
		}
		if code, m := say(h); code != "" {
			out = append(out, finding{code, m, []model.Ref{addressName(h), networkName(h.network.Key), model.PodOf(h.sandbox.Pod), nodeName(h.sandbox.Node)}})
		}
	}
	return out
}
