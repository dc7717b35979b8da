package invariant

import "ipamsim/model"

// UnreleasedClaim is a leak from its first instant: the DEL that had to release the
// claim has said that it did, and nobody will call it again. Whether a reconciler finds
// the claim later is LeakedClaim's to judge.
//
// A fault that met the DEL is no excuse: the CNI specification wants a DEL to end without
// an error if resources are missing, not if it could not release what is there. One that
// says that it failed is called again.
var UnreleasedClaim = define(Invariant{
	Name:     "unreleased-claim",
	Severity: model.Minor,
	Phase:    Always,
	Doc:      "No claim outlives the successful DEL of its own container.",
	Kinds:    []Kind{{"", "{address} stays claimed in[ block {block}][ pool {pool}] for {pod} (container {claimed-for}), though its DEL on {node} succeeded at {at}"}},
}, func(v View) []finding {
	if v.Past == nil {
		return nil
	}
	return v.Past.calls.unreleased
})

// noteUnreleased looks for what a DEL should have released.
func (c *calls) noteUnreleased(v *View, e *model.Event) {
	if e.Kind != model.DelEnd || e.Err != "" {
		return
	}
	for i := range v.Record.Claims {
		k := &v.Record.Claims[i]
		if k.Tunnel || k.Container != e.Container || !ofInterface(k.Interface, e.Interface) || calling(v, k) || !claimedIn(v, k, e.Network) {
			continue
		}
		c.unreleased = append(c.unreleased, finding{
			objects: claimObjects(v, k),
			facts:   append(claimFacts(k), model.NewFact("node", nodeName(e.Node)), model.NewFact("at", e.At)),
		})
	}
}

// claimedIn reports whether a claim may be of the network of a call.
func claimedIn(v *View, c *model.Claim, network string) bool {
	n := model.NetworkByKey(v.Networks, network)
	return n == nil || n.Name == c.Network
}
