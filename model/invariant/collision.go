package invariant

import (
	"net/netip"

	"ipamsim/model"
)

// collisions are the sandboxes that have an address that belongs to something other than a pod. If
// the manager assigns no addresses of taken ranges, there are none.
func collisions(v *View, h *held) (out []finding) {
	for i := range v.Truth.Taken {
		t := &v.Truth.Taken[i]
		n := model.NetworkByKey(v.Networks, t.Network)
		if n == nil {
			continue
		}
		pool, ok := givenAway(n, t.Range)
		switch {
		case !ok:
		case t.Range.IsSingleIP():
			for j := h.of(t.Range.Addr()); j >= 0; j = h.list[j].same {
				out = h.list[j].collision(out, v, t, pool)
			}
		default:
			for j := range h.list {
				if t.Range.Contains(h.list[j].addr) {
					out = h.list[j].collision(out, v, t, pool)
				}
			}
		}
	}
	return out
}

// givenAway is the first of a network's ranges or pools that has an address of r; ok is
// false if none has.
func givenAway(n *model.Network, r netip.Prefix) (pool netip.Prefix, ok bool) {
	for i := range n.Ranges {
		if p := n.Ranges[i].Prefix; p.Overlaps(r) {
			return p.Masked(), true
		}
	}
	if n.Blocks != nil {
		for i := range n.Blocks.Pools {
			if p := n.Blocks.Pools[i].Prefix; p.Overlaps(r) {
				return p, true
			}
		}
	}
	return netip.Prefix{}, false
}

// collision appends the violation of a holding of a taken address.
func (h *holding) collision(out []finding, v *View, t *model.Taken, pool netip.Prefix) []finding {
	if h.attachment.Network != t.Network || device(h.sandbox) || leaving(v, h.sandbox) || !routed(v, h) {
		return out
	}
	code := takenOutside
	switch t.By.Kind {
	case model.RefNode:
		code = OwnAddressOfNode
	case model.RefService:
		code = serviceAddress
	case model.RefRange:
		code = serviceRange
	}
	return append(out, finding{
		code:    code,
		objects: []model.Ref{addressName(h), networkName(t.Network), model.PodOf(h.sandbox.Pod), t.By},
		facts: append(h.facts("first"), model.NewFact("second", t.By),
			model.NewFact("pool", model.Ref{Kind: model.RefRange, Name: pool.String()})),
	})
}
