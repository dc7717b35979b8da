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
	undecided              // a rule of the node may send them to another destination, or drop them
)

// observer compares predictions with the routes that nodes have.
type observer struct {
	nodes map[string]*iproute.Node
	own   map[string][]netip.Addr // the addresses of each node
	pods  map[string][]netip.Addr // those of the pods on each node, from which packets come
}

// observe reads the routes of the dump. If commands is false, names are replaced and nothing
// is compared.
func (f *Findings) observe(v *scenarios.View, commands bool) {
	if !commands {
		return
	}
	names, hostOf := f.cluster.Nodes.Keys(), iproute.HostOf(f.cluster.Pods)
	f.routes = observer{f.cluster.Outputs.Of(names, hostOf), map[string][]netip.Addr{}, map[string][]netip.Addr{}}
	if len(f.routes.nodes) > 0 {
		for i := range v.Truth.Sandboxes {
			s := &v.Truth.Sandboxes[i]
			for _, a := range s.Attachments {
				f.routes.pods[s.Node] = append(f.routes.pods[s.Node], a.Addrs...)
			}
		}
	}
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
func (o *observer) compare(x *model.Violation) (sight, iproute.Way) {
	if x.Invariant != invariant.BlackholedAddress.Name {
		return unseen, iproute.Way{}
	}
	from, _ := model.FactOf[model.Ref](x.Facts, "from")
	at, _ := model.FactOf[model.Ref](x.Facts, "at")
	on, _ := model.FactOf[model.Ref](x.Facts, "on")
	addr, err := netip.ParseAddr(model.Named(x.Objects, model.RefAddress))
	n := o.nodes[at.Name]
	if n == nil || at.Kind != model.RefNode || err != nil || !slices.Contains(droppedThere, x.Code) {
		return unseen, iproute.Way{}
	}
	way := n.Way(addr, o.pods[from.Name]...)
	switch {
	case way.Doubt != nil:
		return undecided, way
	case !way.Known:
		return unseen, way
	case way.Drops():
		return seen, way
	case len(way.Route.Via) == 1 && way.Route.Type == "unicast" && slices.Contains(o.own[on.Name], way.Route.Via[0]):
		return refuted, way
	}
	return elsewhere, way
}

// predicted adds to the sentence of a black hole whether it is observed or predicted.
func predicted(x *model.Violation, how sight, way iproute.Way, sentence string) string {
	at, _ := model.FactOf[model.Ref](x.Facts, "at")
	r := way.Route
	switch {
	case how == seen && r == nil:
		return "observed: " + sentence + fmt.Sprintf(" (%s has no route to it)", reports.Clean(at.Name))
	case how == seen:
		return "observed: " + sentence + fmt.Sprintf(" (the routes of %s, %s: \"%s\")", reports.Clean(at.Name), reports.Clean(r.From.String()), braces.Replace(reports.Clean(r.Text)))
	case how == elsewhere:
		return "predicted, but " + reports.Clean(at.Name) + " has another route: " + sentence + fmt.Sprintf(" (%s: \"%s\"; the dump does not show where it leads)", reports.Clean(r.From.String()), braces.Replace(reports.Clean(r.Text)))
	}
	if how == undecided {
		return "predicted, but " + reports.Clean(at.Name) + " has a rule that may decide otherwise: " + sentence + fmt.Sprintf(" (%s: \"%s\"%s)", reports.Clean(way.Doubt.From.String()), braces.Replace(reports.Clean(way.Doubt.Text)), unshown(way))
	}
	return "predicted (the dump has no routes): " + sentence
}

// unshown names the table that a rule refers to, if the dump does not have it.
func unshown(way iproute.Way) string {
	if way.Table == "" {
		return ""
	}
	return "; the dump does not have the routes of table " + braces.Replace(reports.Clean(way.Table))
}

// braces replaces the braces and brackets that mark placeholders in sentences.
var braces = strings.NewReplacer("{", "(", "}", ")", "[", "(", "]", ")")

// refutes reports whether the routes refute a finding, and records it in Refuted. A route that
// leads elsewhere than predicted, or a rule that may, cannot be judged.
func (f *Findings) refutes(x *model.Violation, how sight, way iproute.Way) bool {
	at, _ := model.FactOf[model.Ref](x.Facts, "at")
	on, _ := model.FactOf[model.Ref](x.Facts, "on")
	switch how {
	case refuted:
		f.Refuted = append(f.Refuted, Refuted{*x, at.Name, on.Name, *way.Route})
		return true
	case elsewhere:
		f.unknownWay(at.Name, "routes of other machines")
	case undecided:
		f.undecided(at.Name, way)
	}
	return false
}

// undecided records that a rule of a node decides about packets, by what the dump does not have.
func (f *Findings) undecided(node string, way iproute.Way) {
	if way.Table != "" {
		f.unknownWay(node, "ip route show table "+way.Table)
		return
	}
	f.unknownWay(node, "marks, interfaces and ports (ip rule)")
}

// unknownWay records that the destination of packets from a node cannot be judged.
func (f *Findings) unknownWay(node, without string) {
	u := scenarios.Unjudged{What: []string{invariant.BlackholedAddress.Name}, Pools: []string{"packets from " + node}, Without: []string{without}}
	i := slices.IndexFunc(f.Unjudged, func(o scenarios.Unjudged) bool { return slices.Equal(o.Without, u.Without) && len(o.Pools) > 0 })
	switch {
	case i < 0:
		f.Unjudged = append(slices.Clip(f.Unjudged), u)
	case !slices.Contains(f.Unjudged[i].Pools, u.Pools[0]):
		f.Unjudged[i].Pools = append(slices.Clip(f.Unjudged[i].Pools), u.Pools...)
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
