// Package iproute reads what ip route and ip addr print on a node, in files of support bundles
// and in what is pasted of a terminal, and answers where the node sends the packets to an
// address. What a node is called, and whether its output is whole, has to be shown: see
// Output.
package iproute

import (
	"net/netip"
	"slices"
	"strings"

	"ipamsim/scenarios/dump/decode"
)

// Output is what one command has printed.
type Output struct {
	From   decode.Origin // its first line
	Host   string        // that the prompt or the command names; "": the path may
	Pod    string        // in which it was typed, namespace/name; ""
	Path   string        // of the file
	Routes []Route
	Addrs  []Addr
	// Whole: nothing is missing at its end, and no filter was typed. An address that no
	// route is for has none then.
	Whole bool
	Six   bool // it is of IPv6 alone
	Four  bool // it is of IPv4 alone
}

// Route is one line of ip route.
type Route struct {
	Dst   netip.Prefix // 0.0.0.0/0 or ::/0: default; the zero value: default of a family that the line does not show
	Type  string       // unicast, blackhole, unreachable, prohibit, throw, local, …
	Via   []netip.Addr // next hops
	Dev   string
	Table string // main if none is named
	Dead  bool   // the kernel does not use it, or a next hop of it
	Prio  int    // metric
	From  decode.Origin
	Text  string // the line
}

// Addr is an address of an interface.
type Addr struct {
	netip.Prefix
	Dev  string
	From decode.Origin
}

// Drops reports whether packets end in the route.
func (r *Route) Drops() bool {
	return r.Type == "blackhole" || r.Type == "unreachable" || r.Type == "prohibit"
}

// Outputs are those of a dump, in the order in which they were read.
type Outputs struct {
	all   []Output
	hosts map[string]string // names of hosts, by the folder whose files are theirs
}

// outputsMax bounds what is kept of a hostile dump.
const outputsMax = 20_000

// AddOutput keeps one.
func (o *Outputs) AddOutput(x Output) {
	if len(o.all) < outputsMax && len(x.Routes)+len(x.Addrs) > 0 {
		o.all = append(o.all, x)
	}
}

// Way is what the routes of a node do with packets to an address.
type Way struct {
	Known bool // else nothing can be concluded
	Route *Route
}

// Node are the outputs of one node.
type Node struct {
	Name   string
	Routes []Route
	whole  [2]bool // of IPv4, of IPv6
	mixed  bool    // other tables than main may be asked first
}

// Way is where the node sends packets to an address. It is known if the routes are whole, for
// a route that is not shown may be a better one, and if no other table than local and main
// has a route for it, which rules may prefer. A nil Route: the node has none.
func (n *Node) Way(a netip.Addr) Way {
	if !n.whole[family(a)] {
		return Way{}
	}
	var best *Route
	for i := range n.Routes {
		r := &n.Routes[i]
		switch {
		case !r.Dst.IsValid() || !r.Dst.Contains(a) || r.Type == "broadcast" || r.Type == "multicast" || r.Type == "anycast":
			continue
		case r.Table != "main" && r.Table != "local" && r.Table != "default", r.Type == "throw":
			return Way{} // rules, which are not read, select the table
		case r.Dead:
			return Way{}
		case best == nil, better(r, best):
			best = r
		}
	}
	return Way{true, best}
}

// Dropping returns a function that reports whether the node may drop packets to an address: a route drops
// them, or there is no default route. Way decides, and takes longer.
func (n *Node) Dropping() func(netip.Addr) bool {
	var drops []netip.Prefix
	sends := [2]bool{} // by a default route: IPv4, IPv6
	for i := range n.Routes {
		switch r := &n.Routes[i]; {
		case !r.Dst.IsValid():
		case r.Drops():
			drops = append(drops, r.Dst)
		case r.Dst.Bits() == 0:
			sends[family(r.Dst.Addr())] = true
		}
	}
	return func(a netip.Addr) bool {
		return !sends[family(a)] || slices.ContainsFunc(drops, func(p netip.Prefix) bool { return p.Contains(a) })
	}
}

// family is 0 of an IPv4 address, 1 of an IPv6 one.
func family(a netip.Addr) int {
	if a.Is4() {
		return 0
	}
	return 1
}

// better reports whether the kernel prefers a route: those of the table local, then the longer
// prefix, then the lower metric.
func better(a, b *Route) bool {
	if local := a.Table == "local"; local != (b.Table == "local") {
		return local
	}
	if a.Dst.Bits() != b.Dst.Bits() {
		return a.Dst.Bits() > b.Dst.Bits()
	}
	return a.Prio < b.Prio
}

// Of are the outputs of the nodes, by their names. hostOf is the node whose network a pod uses,
// namespace/name; "": none. Two whole outputs that differ are of two instants: neither is
// believed.
func (o *Outputs) Of(nodes []string, hostOf func(pod string) string) map[string]*Node {
	names := newNames(nodes)
	out := map[string]*Node{}
	for i := range o.all {
		x := &o.all[i]
		name := o.node(names, x, hostOf)
		if name == "" || len(x.Routes) == 0 {
			continue
		}
		n := out[name]
		if n == nil {
			n = &Node{Name: name}
			out[name] = n
		}
		for f := range n.whole {
			if f == 0 && x.Six || f == 1 && x.Four || !x.Whole {
				continue
			}
			if n.whole[f] && differ(n.Routes, x.Routes, f == 0) {
				n.mixed = true
			}
			n.whole[f] = true
		}
		for _, r := range x.Routes {
			if !slices.ContainsFunc(n.Routes, func(y Route) bool { return y.Text == r.Text && y.Table == r.Table }) {
				n.Routes = append(n.Routes, r)
			}
		}
	}
	for name, n := range out {
		if n.mixed {
			delete(out, name)
		}
	}
	return out
}

// differ reports whether two listings have other routes in the table main.
func differ(a, b []Route, four bool) bool {
	of := func(all []Route) (out []string) {
		for _, r := range all {
			if r.Table == "main" && (!r.Dst.IsValid() || r.Dst.Addr().Is4() == four) {
				out = append(out, r.Text)
			}
		}
		slices.Sort(out)
		return slices.Compact(out)
	}
	return !slices.Equal(of(a), of(b))
}

// shared are interfaces whose addresses are not a node's own: every node may have them, or they
// are of Services.
var shared = []string{"lo", "docker0", "virbr0", "kube-ipvs0", "nodelocaldns", "podman0", "lxcbr0"}

// Own are the nodes by the addresses of their interfaces and tunnels that no other node has.
func (o *Outputs) Own(nodes []string, hostOf func(pod string) string) map[netip.Addr]string {
	names := newNames(nodes)
	out, several := map[netip.Addr]string{}, map[netip.Addr]bool{}
	for i := range o.all {
		x := &o.all[i]
		if len(x.Addrs) == 0 {
			continue
		}
		name := o.node(names, x, hostOf)
		for _, a := range x.Addrs {
			addr := a.Addr()
			if name == "" || slices.Contains(shared, a.Dev) || strings.HasPrefix(a.Dev, "br-") || addr.IsLoopback() || addr.IsLinkLocalUnicast() {
				continue
			}
			several[addr] = several[addr] || out[addr] != "" && out[addr] != name
			out[addr] = name
		}
	}
	for a := range several {
		if several[a] {
			delete(out, a)
		}
	}
	return out
}

// Unplaced returns the origins of the outputs whose node is unknown.
func (o *Outputs) Unplaced(nodes []string, hostOf func(pod string) string) (out []decode.Origin) {
	names := newNames(nodes)
	for i := range o.all {
		if o.node(names, &o.all[i], hostOf) == "" {
			out = append(out, o.all[i].From)
		}
	}
	return out
}
