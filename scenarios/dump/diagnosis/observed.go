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

// Refuted is a black hole that the objects of the dump predict but the routes of the node
// refute.
type Refuted struct {
	model.Violation
	Node  string
	On    string // the node that has the address
	Route iproute.Route
}

// sight is what the routes of a node show about a predicted black hole.
type sight int

const (
	unseen    sight = iota // the routes were not read, or show nothing
	seen                   // the node drops the packets
	refuted                // the node sends them to the node that has the address
	elsewhere              // the node sends them to another destination
)

// observer compares predictions with the routes that nodes have.
type observer struct {
	nodes map[string]*iproute.Node
	own   map[string][]netip.Addr // the addresses of each node
}

// observe reads the routes of the dump. If commands is false, names are replaced and nothing
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

// droppedThere are the codes of black holes that the routes of one node can show: it drops the
// packets of all flows to the address.
var droppedThere = []string{"dropped", invariant.DroppedAtSource, "no-route", noRouteAtSource}

// noRouteAtSource is the code of a black hole where the sending node has no route.
const noRouteAtSource = "no-route-at-source"

// compare returns what the routes of the dropping node show about a predicted black hole.
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

// predicted adds to the sentence of a black hole whether it is observed or predicted.
func predicted(x *model.Violation, how sight, r *iproute.Route, sentence string) string {
	at, _ := model.FactOf[model.Ref](x.Facts, "at")
	switch {
	case how == seen && r == nil:
		return "observed: " + sentence + fmt.Sprintf(" (%s has no route to it)", reports.Clean(at.Name))
	case how == seen:
		return "observed: " + sentence + fmt.Sprintf(" (the routes of %s, %s: \"%s\")", reports.Clean(at.Name), reports.Clean(r.From.String()), braces.Replace(reports.Clean(r.Text)))
	case how == elsewhere:
		return "predicted, but " + reports.Clean(at.Name) + " has another route: " + sentence + fmt.Sprintf(" (%s: \"%s\"; the dump does not show where it leads)", reports.Clean(r.From.String()), braces.Replace(reports.Clean(r.Text)))
	}
	return "predicted (the dump has no routes): " + sentence
}

// braces replaces the braces and brackets that mark placeholders in sentences.
var braces = strings.NewReplacer("{", "(", "}", ")", "[", "(", "]", ")")

// refutes reports whether the routes refute a finding, and records it in Refuted. A route that
// leads elsewhere than predicted cannot be judged.
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

// unknownWay records that the destination of packets from a node cannot be judged.
func (f *Findings) unknownWay(node string) {
	u := scenarios.Unjudged{What: []string{invariant.BlackholedAddress.Name}, Pools: []string{"packets from " + node}, Without: []string{"routes of other machines"}}
	if !slices.ContainsFunc(f.Unjudged, func(o scenarios.Unjudged) bool { return slices.Equal(o.Without, u.Without) }) {
		f.Unjudged = append(slices.Clip(f.Unjudged), u)
	}
}

// writeRefuted prints the refuted black holes, and the routes whose node is unknown.
func (f *Findings) writeRefuted(w io.Writer) {
	for i, x := range f.Refuted {
		if shown := f.Style.shown(len(f.Refuted)); i == shown {
			fmt.Fprintf(w, "refuted: %d more; --all lists them\n", len(f.Refuted)-shown)
			break
		}
		fmt.Fprintf(w, "refuted: according to its objects %s would drop packets to %s, but it has a route to %s via %s, which is %s (%s)\n", reports.Clean(x.Node),
			model.Named(x.Objects, model.RefAddress), x.Route.Dst, x.Route.Via[0], reports.Clean(x.On), reports.Clean(x.Route.From.String()))
	}
	for i, from := range f.Unplaced {
		if shown := f.Style.shown(len(f.Unplaced)); i == shown {
			fmt.Fprintf(w, "unknown: %d more; --all lists them\n", len(f.Unplaced)-shown)
			break
		}
		fmt.Fprintf(w, "unknown: the node of the routes or addresses at %s: nothing there names a node of the dump\n", reports.Clean(from.String()))
	}
}
