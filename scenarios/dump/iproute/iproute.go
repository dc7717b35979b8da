// Package iproute reads what ip route, ip rule and ip addr print on a node, in files of support
// bundles and in what is pasted of a terminal, and answers where the node sends the packets to an
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
	Rules  []Rule
	Addrs  []Addr
	Table  string // of the routes, or all
	// Numeric: tables are printed by number.
	Numeric bool
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
	plain string // the line without its table
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
	if len(o.all) < outputsMax && (!x.empty() || x.Whole && x.Table != "main" && x.Table != "all") {
		o.all = append(o.all, x)
	}
}

// empty reports whether a command has printed nothing. Of a table that shows that it has no routes.
func (x *Output) empty() bool { return len(x.Routes)+len(x.Rules)+len(x.Addrs) == 0 }

// Of are the routes and rules of the nodes, by their names. hostOf is the node whose network a pod
// uses, namespace/name; "": none. Two whole outputs that differ are of two instants: neither is
// believed.
func (o *Outputs) Of(nodes []string, hostOf func(pod string) string) map[string]*Node {
	names := newNames(nodes)
	out := map[string]*Node{}
	for i := range o.all {
		x := &o.all[i]
		name := o.node(names, x, hostOf)
		if name == "" || len(x.Addrs) > 0 {
			continue
		}
		if out[name] == nil {
			out[name] = &Node{Name: name}
		}
		out[name].take(x)
	}
	for name, n := range out {
		if n.mixed {
			delete(out, name)
		}
	}
	return out
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
