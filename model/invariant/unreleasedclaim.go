package invariant

import (
	"slices"

	"ipamsim/model"
)

// UnreleasedClaim is a leak from its first instant: each DEL of the container has succeeded, and
// the runtime has removed the sandbox, so that there will be no other DEL. LeakedClaim checks
// whether a reconciler finds the claim later.
//
// A fault during the DEL is no excuse: by the CNI specification a DEL succeeds if resources are
// missing, but not if it could not release existing ones. A DEL that reports an error is called
// again.
var UnreleasedClaim = define(Invariant{
	Name:     "unreleased-claim",
	Severity: model.Minor,
	Phase:    Always,
	Doc:      "No claim outlives its sandbox when the runtime removes it after a successful DEL.",
	Kinds:    []Kind{{"", "{address} stays claimed in[ block {block}][ pool {pool}] for {pod} (container {claimed-for}), though its DEL on {node} succeeded at {at} and the sandbox is removed"}},
	Cause:    CauseRule{Start: FromRelease, NamesCall: true, Identity: Identity{Group: LeftOver}},
	Follows:  []string{"handle-count"},
}, func(v View) []finding {
	if v.Past == nil {
		return nil
	}
	return v.Past.calls.unreleased
})

// noteReleased remembers the DELs that have succeeded, by interface the last.
func (c *calls) noteReleased(e *model.Event) {
	if x := c.containers[e.Container]; x != nil && e.Kind == model.DelEnd && e.Err == "" {
		x.released = slices.DeleteFunc(x.released, func(o model.Event) bool { return o.Interface == e.Interface })
		x.released = append(x.released, *e)
	}
}

// noteUnreleased finds claims that the DELs of a removed sandbox should have released.
func (c *calls) noteUnreleased(v *View, e *model.Event) {
	x := c.containers[e.Container]
	if x == nil || len(x.released) == 0 {
		return
	}
	for i := range v.Record.Claims {
		k := &v.Record.Claims[i]
		if k.Tunnel || k.Container != e.Container || calling(v, k) {
			continue
		}
		del := slices.IndexFunc(x.released, func(d model.Event) bool { return ofInterface(k.Interface, d.Interface) && claimedIn(v, k, d.Network) })
		if del < 0 {
			continue
		}
		c.unreleased = append(c.unreleased, finding{
			objects: claimObjects(v, k),
			facts:   append(claimFacts(k), model.NewFact("node", nodeName(e.Node)), model.NewFact("at", x.released[del].At)),
		})
	}
}

// claimedIn reports whether a claim may be of the network of a call.
func claimedIn(v *View, c *model.Claim, network string) bool {
	n := model.NetworkByKey(v.Networks, network)
	return n == nil || n.Name == c.Network
}
