package invariant

import (
	"fmt"

	"ipamsim/model"
)

// UnbackedSandbox is the state before a duplicate: the manager no longer knows
// that the address is in use and will give it to the next pod.
var UnbackedSandbox = define(Invariant{
	Name:     "unbacked-sandbox",
	Severity: model.Major,
	Phase:    Always,
	Doc:      "The address of every live sandbox is claimed for its container or its pod.",
}, func(v View) []finding {
	var out []finding
	for _, h := range unbacked(v) {
		if !silent(&v, h.sandbox) {
			out = append(out, finding{
				message: fmt.Sprintf("%s has %s in network %s since %s, but no claim says so: it can be given away",
					h.who(), h.addr, h.attachment.Network, clock(h.attachment.Since)),
				objects: []string{addressName(h), networkName(h.attachment.Network), podName(h.sandbox.Pod), nodeName(h.sandbox.Node)},
			})
		}
	}
	return out
})

// unbacked lists the holdings that no claim in their network's pools backs, by
// container or by pod name. Addresses of networks without a policy are not
// judged: nobody said where their claims would be.
func unbacked(v View) []*holding {
	h := hold(v)
	backed := make([]bool, len(h.list))
	p := pools{list: v.Record.Pools}
	for i := range v.Record.Claims {
		c := &v.Record.Claims[i]
		for j := h.of(c.Addr); j >= 0; j = h.list[j].same {
			x := &h.list[j]
			if backed[j] || x.network == nil || (x.sandbox.ID != claimant(c) && x.sandbox.Pod != c.Pod) {
				continue
			}
			pool := p.find(c.Pool)
			backed[j] = pool != nil && x.network.Owns(pool)
		}
	}
	var out []*holding
	for i := range h.list {
		if !backed[i] && h.list[i].network != nil {
			out = append(out, &h.list[i])
		}
	}
	return out
}
