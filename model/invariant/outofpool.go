package invariant

import (
	"net/netip"
	"time"

	"ipamsim/model"
)

// Codes of OutOfPool.
const (
	disabledPool  = "disabled-pool"
	outsideRanges = "outside-ranges"
	outsideSlice  = "slice-outside-ranges"
)

// OutOfPool is an address that belongs to somebody else: a router, another
// network, or nobody. With node slices the network's ranges still bound it. A pool
// that is disabled gives nothing to an ADD that begins afterwards.
var OutOfPool = define(Invariant{
	Name:     "out-of-pool",
	Severity: model.Critical,
	Phase:    Always,
	Doc:      "Every live sandbox's address, and the range that a node was given when it joined, lies in a range of its network.",
	Kinds: []Kind{
		{disabledPool, "{pod} on {node} has {address}[ since {since}], of pool {range}, which is disabled[ since {rule-since}]"},
		{outsideRanges, "{pod} on {node} has {address}[ since {since}], outside every range of network {network}"},
		{outsideSlice, "{node} has {range}, outside every range of network {network}"},
	},
}, func(v View) []finding {
	return append(slicesOutside(&v), eachHeld(v, func(h *holding) (string, []model.Fact) {
		x, since, ok := v.Past.since(func(r *rules) map[netip.Prefix]time.Duration { return r.disabled }, h.network.Key, h.addr)
		if ok && gotAfter(&v, h, since) {
			return disabledPool, []model.Fact{model.NewFact("rule-since", since), model.NewFact("range", rangeName(x))}
		}
		if permitted(&v, h, func(n *model.Network) bool { return n.Spans(h.addr) }) {
			return "", nil
		}
		return outsideRanges, nil
	})...)
})

// slicesOutside are the slices of nodes that are no part of a network whose manager gives
// one to every node. Upstream's node IPAM controller refuses to start if a Node has such a
// podCIDR.
func slicesOutside(v *View) (out []finding) {
	for i := range v.Networks {
		n := &v.Networks[i]
		if len(n.Ranges) == 0 || n.Ranges[0].Slice == 0 || n.Blocks != nil {
			continue
		}
		for j := range v.Record.Pools {
			if p := &v.Record.Pools[j]; p.Node != "" && p.Network == n.Name && !n.Owns(p) {
				out = append(out, finding{code: outsideSlice, objects: []model.Ref{networkName(n.Key), nodeName(p.Node), rangeName(p.Range)}})
			}
		}
	}
	return out
}

// eachHeld judges every address that live sandboxes hold under a policy by
// itself; judge returns what kind of break it is, or "" if all is well, and facts besides
// who has the address since when.
func eachHeld(v View, judge func(*holding) (code string, facts []model.Fact)) []finding {
	var out []finding
	held := hold(v)
	for i := range held.list {
		h := &held.list[i]
		if h.network == nil {
			continue
		}
		if code, facts := judge(h); code != "" {
			out = append(out, finding{
				code:    code,
				objects: []model.Ref{addressName(h), networkName(h.network.Key), model.PodOf(h.sandbox.Pod), nodeName(h.sandbox.Node)},
				facts:   append(facts, model.NewFact("since", h.attachment.Since)),
			})
		}
	}
	return out
}
