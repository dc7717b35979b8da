package diagnosis

import (
	"fmt"
	"io"
	"net/netip"
	"slices"
	"strings"

	"ipamsim/model"
	"ipamsim/model/invariant"
	"ipamsim/reports"
	"ipamsim/scenarios"
	"ipamsim/scenarios/dump/iproute"
)

// Refuted is a black hole that the objects of the dump make expect, while the routes of the
// node show a way to the address.
type Refuted struct {
	model.Violation
	Node  string
	On    string // where the address is
	Route iproute.Route
}

// sight is what the routes of a node show of a predicted black hole.
type sight int

const (
	unseen    sight = iota // its routes were not read, or do not say
	seen                   // it drops the packets
	refuted                // it sends them to the node that has the address
	elsewhere              // it sends them somewhere else
)

// observer compares predictions with the routes that nodes have.
type observer struct {
	nodes map[string]*iproute.Node
	own   map[string][]netip.Addr // addresses of nodes
}

// observe reads the routes of the dump. Where names are replaced, commands is false and nothing
// is compared.
func (f *Findings) observe(v *scenarios.View, commands bool) {
	if !commands {
		return
	}
	names, hostOf := f.cluster.Nodes.Keys(), iproute.HostOf(f.cluster.Pods)
	f.routes = observer{f.cluster.Outputs.Of(names, hostOf), map[string][]netip.Addr{}}
	for _, t := range v.Truth.Taken {
		if t.By.Kind == model.RefNode && t.Range.IsSingleIP() {
			f.routes.own[t.By.Name] = append(f.routes.own[t.By.Name], t.Range.Addr())
		}
	}
	f.Unplaced = f.cluster.Outputs.Unplaced(names, hostOf)
}

// droppedThere are the codes of black holes that the routes of one node can show: packets to
// the address, of all flows, end there.
var droppedThere = []string{"dropped", invariant.DroppedAtSource, "no-route", noRouteAtSource}

// noRouteAtSource is where a node has no route to an address.
const noRouteAtSource = "no-route-at-source"

// compare is what the node shows at which packets end, by the prediction of a black hole.
func (o *observer) compare(x *model.Violation) (sight, *iproute.Route) {
	if x.Invariant != invariant.BlackholedAddress.Name {
		return unseen, nil
	}
	at, _ := model.FactOf[model.Ref](x.Facts, "at")
	on, _ := model.FactOf[model.Ref](x.Facts, "on")
	addr, err := netip.ParseAddr(model.Named(x.Objects, model.RefAddress))
	n := o.nodes[at.Name]
	if n == nil || at.Kind != model.RefNode || err != nil || !slices.Contains(droppedThere, x.Code) {
		return unseen, nil
	}
	way := n.Way(addr)
	switch {
	case !way.Known:
		return unseen, nil
	case way.Route == nil:
		return seen, nil
	case way.Route.Drops():
		return seen, way.Route
	case len(way.Route.Via) == 1 && way.Route.Type == "unicast" && slices.Contains(o.own[on.Name], way.Route.Via[0]):
		return refuted, way.Route
	}
	return elsewhere, way.Route
}

// predicted says how a black hole is known, in front of the sentence and behind it.
func predicted(x *model.Violation, how sight, r *iproute.Route, sentence string) string {
	at, _ := model.FactOf[model.Ref](x.Facts, "at")
	switch {
	case how == seen && r == nil:
		return "observed: " + sentence + fmt.Sprintf(" (the routes of %s have none for it)", reports.Clean(at.Name))
	case how == seen:
		return "observed: " + sentence + fmt.Sprintf(" (the routes of %s, %s: \"%s\")", reports.Clean(at.Name), reports.Clean(r.From.String()), braces.Replace(reports.Clean(r.Text)))
	case how == elsewhere:
		return "predicted, and the routes of " + reports.Clean(at.Name) + " are others: " + sentence + fmt.Sprintf(" (%s: \"%s\"; where that leads is not in the dump)", reports.Clean(r.From.String()), braces.Replace(reports.Clean(r.Text)))
	}
	return "predicted, for a dump has no routes: " + sentence
}

// braces are of placeholders in sentences.
var braces = strings.NewReplacer("{", "(", "}", ")", "[", "(", "]", ")")

// refutes reports whether a finding is none, by the routes, and keeps it as such. What leads
// elsewhere than predicted cannot be judged.
func (f *Findings) refutes(x *model.Violation, how sight, r *iproute.Route) bool {
	at, _ := model.FactOf[model.Ref](x.Facts, "at")
	on, _ := model.FactOf[model.Ref](x.Facts, "on")
	switch how {
	case refuted:
		f.Refuted = append(f.Refuted, Refuted{*x, at.Name, on.Name, *r})
		return true
	case elsewhere:
		f.unknownWay(at.Name)
	}
	return false
}

// unknownWay is that it cannot be judged where the packets of a node end.
func (f *Findings) unknownWay(node string) {
	u := scenarios.Unjudged{What: []string{invariant.BlackholedAddress.Name}, Pools: []string{"packets from " + node}, Without: []string{"routes of other machines"}}
	if !slices.ContainsFunc(f.Unjudged, func(o scenarios.Unjudged) bool { return slices.Equal(o.Without, u.Without) }) {
		f.Unjudged = append(slices.Clip(f.Unjudged), u)
	}
}

// writeRefuted reports what the routes refute, and routes that are of no known node.
func (f *Findings) writeRefuted(w io.Writer) {
	for i, x := range f.Refuted {
		if shown := f.Style.shown(len(f.Refuted)); i == shown {
			fmt.Fprintf(w, "refuted: %d more; --all lists them\n", len(f.Refuted)-shown)
			break
		}
		fmt.Fprintf(w, "refuted: by the objects %s would drop packets to %s, but it has a route to %s via %s, which is %s (%s)\n", reports.Clean(x.Node),
			model.Named(x.Objects, model.RefAddress), x.Route.Dst, x.Route.Via[0], reports.Clean(x.On), reports.Clean(x.Route.From.String()))
	}
	for i, from := range f.Unplaced {
		if shown := f.Style.shown(len(f.Unplaced)); i == shown {
			fmt.Fprintf(w, "not known: %d more; --all lists them\n", len(f.Unplaced)-shown)
			break
		}
		fmt.Fprintf(w, "not known: of which node the routes or addresses are that begin at %s: nothing there names one node of the dump\n", reports.Clean(from.String()))
	}
}
