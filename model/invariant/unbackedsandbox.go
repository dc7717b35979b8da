package invariant

import "ipamsim/model"

// UnbackedSandbox is the state before a duplicate: the manager no longer knows that the address is
// in use and will assign it to the next pod.
//
// A claim for another container of the pod backs a sandbox as well, because managers identify pods
// by name (Whereabouts) and dumps do not name containers. It does not if that container is alive:
// then the claim belongs to that container and is released with it. A disabled pool assigns
// nothing: its addresses are checked at rest (Convergence). A node's own device may be without a
// claim for Overlap: calico-node releases a tunnel's address before it changes the Node, a few
// milliseconds in every move. If a pod gets it then, that is a DuplicateAddress.
var UnbackedSandbox = define(Invariant{
	Name:     "unbacked-sandbox",
	Severity: model.Major,
	Phase:    Always,
	Doc:      "The address of every live sandbox is claimed for its container or its pod.",
	Kinds: []Kind{
		{unclaimedAddress, "{pod} on {node} has {address} in network {network}[ since {since}], but no claim records it: another pod can get it"},
		{claimedForAnother, "{pod} on {node} has {address} in network {network}[ since {since}], but the claim is for container {claimed-for} of a pod of that name: another pod can get it"},
	},
	Cause: CauseRule{
		Start: FromWrite, First: true, Write: WriteRule{Returned: true, Freed: true},
		Identity: Identity{Group: AddressLost, CodeIfNew: true},
	},
	Follows: []string{"block-owner", "double-claim", "duplicate-address", "handle-count", "overlapping-blocks", "slice-conflict"},
	Effect:  "the address can be given to a second pod",
}, func(v View) []finding {
	var out []finding
	for _, h := range unbacked(v) {
		if !silent(&v, h.sandbox) && !inDisabledPool(h) && !v.Past.moves(&v, h) {
			out = append(out, unbackedFinding(&v, h))
		}
	}
	return out
})

// inDisabledPool reports whether an address is of a pool that hands out nothing.
func inDisabledPool(h *holding) bool {
	if h.network.Blocks == nil {
		return false
	}
	pool := h.network.Blocks.PoolOf(h.addr)
	return pool != nil && pool.Disabled
}

// unbacked lists the holdings without a claim in their network's pools; a stopped sandbox needs
// none. Addresses of networks without a policy are not checked, because the place of their claims
// is unknown. The list is cached in an indexed view.
func unbacked(v View) []*holding {
	if v.held == nil {
		return withoutClaim(v)
	}
	if !v.held.matched {
		v.held.unbacked, v.held.matched = withoutClaim(v), true
	}
	return v.held.unbacked
}

func withoutClaim(v View) []*holding {
	h := hold(v)
	var live map[string]bool
	backed := make([]bool, len(h.list))
	p := pools{list: v.Record.Pools}
	for i := range v.Record.Claims {
		c := &v.Record.Claims[i]
		for j := h.of(c.Addr); j >= 0; j = h.list[j].same {
			x := &h.list[j]
			if backed[j] || x.network == nil || !ofInterface(c.Interface, x.attachment.Interface) {
				continue
			}
			if x.sandbox.ID != claimant(c) {
				if live == nil {
					live = liveContainers(&v)
				}
				if (x.sandbox.Pod != c.Pod || live[c.Container]) && !alternate(c, x.sandbox) {
					continue
				}
			}
			pool := p.find(c.Pool)
			backed[j] = pool != nil && x.network.Owns(pool)
		}
	}
	var out []*holding
	for i := range h.list {
		if !backed[i] && h.list[i].network != nil && !h.list[i].sandbox.Stopped {
			out = append(out, &h.list[i])
		}
	}
	return out
}

// alternate reports whether a sandbox belongs to the second pod of a virtual machine that has the
// claim.
func alternate(c *model.Claim, s *model.Sandbox) bool {
	return c.Alternate != model.PodRef{} && c.Alternate == s.Pod
}

// unbackedFinding describes a holding without a claim, with the record of its address.
func unbackedFinding(v *View, h *holding) finding {
	f := finding{
		code:    unclaimedAddress,
		objects: []model.Ref{addressName(h), networkName(h.attachment.Network), model.PodOf(h.sandbox.Pod), nodeName(h.sandbox.Node)},
		facts:   []model.Fact{model.NewFact("since", h.attachment.Since)},
	}
	for i := range v.Record.Claims {
		c := &v.Record.Claims[i]
		if c.Addr != h.addr || c.Pod != h.sandbox.Pod || c.Container == h.sandbox.ID || !ofInterface(c.Interface, h.attachment.Interface) {
			continue
		}
		p := pools{list: v.Record.Pools}
		if pool := p.find(c.Pool); pool != nil && h.network.Owns(pool) {
			f.code, f.facts = claimedForAnother, append(f.facts, model.NewFact("claimed-for", containerName(c.Container)))
			return f
		}
	}
	return f
}
