package diagnosis

import (
	"maps"
	"net/netip"
	"slices"

	"ipamsim/model"
	"ipamsim/model/invariant"
	"ipamsim/scenarios"
)

// wrongRoute is the operator's decision about a black hole that the routes of a node show but
// the dump does not explain.
const wrongRoute = "why the node has no route to the pod: nothing in the dump explains it; check the daemons that write its routes"

// takeUnpredicted adds the black holes that the routes of nodes show, for pods on other nodes,
// and that the objects of the dump do not predict. It covers only networks whose addresses come
// from blocks: nodes may not route other networks.
func (f *Findings) takeUnpredicted(v *scenarios.View) {
	nodes := slices.Sorted(maps.Keys(f.routes.nodes))
	if len(nodes) == 0 {
		return
	}
	may := make([]func(netip.Addr) bool, len(nodes))
	for i, name := range nodes {
		may[i] = f.routes.nodes[name].Dropping()
	}
	type way struct{ from, addr string }
	expected := map[way]bool{}
	expect := func(x *model.Violation) {
		from, _ := model.FactOf[model.Ref](x.Facts, "from")
		expected[way{from.Name, model.Named(x.Objects, model.RefAddress)}] = true
	}
	for _, x := range slices.Concat(f.All, f.Supposed, f.dropped) {
		expect(&x.Violation)
	}
	for i := range f.Refuted {
		expect(&f.Refuted[i].Violation)
	}
	for i := range v.Truth.Sandboxes {
		s := &v.Truth.Sandboxes[i]
		p := v.Truth.Pods[s.Pod]
		for _, a := range s.Attachments {
			if n := model.NetworkByKey(v.Networks, a.Network); s.Stopped || p.Deleting || n == nil || n.Blocks == nil {
				continue
			}
			for _, addr := range a.Addrs {
				for k, from := range nodes {
					if from == s.Node || !may[k](addr) || expected[way{from, addr.String()}] {
						continue
					}
					if x, ok := f.dropping(v, from, s, addr); ok {
						f.All = append(f.All, x)
					}
				}
			}
		}
	}
}

// dropping returns the black hole between a node and the address of a sandbox, if the routes of
// the node show one.
func (f *Findings) dropping(v *scenarios.View, from string, to *model.Sandbox, addr netip.Addr) (out Finding, ok bool) {
	w := f.routes.nodes[from].Way(addr, f.routes.pods[from]...)
	if w.Doubt != nil {
		f.undecided(from, w)
	}
	if !w.Drops() {
		return out, false
	}
	source, code := model.Ref{Kind: model.RefNode, Name: from}, noRouteAtSource
	facts := []model.Fact{model.NewFact("from", source), model.NewFact("on", model.Ref{Kind: model.RefNode, Name: to.Node}), model.NewFact("at", source)}
	if w.Route != nil {
		code = invariant.DroppedAtSource
		facts = append(facts, model.NewFact("route", w.Route.Text), model.NewFact("destination", model.BlockOf(w.Route.Dst)))
	}
	objects := []model.Ref{model.AddressOf(addr), source, model.PodOf(to.Pod)}
	slices.SortFunc(objects, model.Ref.Compare)
	inv := invariant.BlackholedAddress
	out.Violation = model.Violation{Invariant: inv.Name, Severity: inv.Severity, Code: code, Objects: objects, Facts: facts}
	out.Message = f.words(v, out.Violation, seen, w)
	out.Decide = wrongRoute
	return out, true
}
