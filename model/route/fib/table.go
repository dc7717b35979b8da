// Package fib is the forwarding tables of nodes and routers at one instant, as ip route
// prints them, and the walk of a packet through them. Package route fills them.
package fib

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
)

// Type of a route.
type Type string

// The types of routes; Unicast is what ip route does not name.
const (
	Unicast   Type = ""
	Blackhole Type = "blackhole"
	// Refuse answers that the destination is unreachable: a BGP route whose next hop cannot be
	// resolved.
	Refuse Type = "unreachable"
)

// Protocols that made a route, as ip route names them; "" is boot, which it does
// not print: the default route's and Calico's routes of pods.
const (
	Kernel = "kernel"
	BIRD   = "bird"
	Felix  = "80" // felix/dataplane/linux/dataplanedefs, DefaultRouteProto
)

// Route is one line of a routing table.
type Route struct {
	Dst   netip.Prefix
	Type  Type
	Via   []netip.Addr // next hops, sorted; none: Dst is on the link
	Dev   string
	Proto string
	Src   netip.Addr // the preferred source, of a connected subnet
	// Metric is 0 in IPv4; in IPv6 what the kernel or the daemon gave the route.
	Metric int
	// OnLink: the next hop is taken for a neighbour without asking. Tunnel: it is
	// reached inside a packet to another node.
	OnLink, Tunnel bool
}

// local reports whether the route delivers to a pod of this node.
func (r *Route) local() bool {
	return r.Type == Unicast && len(r.Via) == 0 && r.Dst.IsSingleIP()
}

func (r *Route) equal(o *Route) bool {
	return r.Dst == o.Dst && r.Type == o.Type && r.Dev == o.Dev && r.Proto == o.Proto && r.Src == o.Src && r.Metric == o.Metric &&
		r.OnLink == o.OnLink && r.Tunnel == o.Tunnel && slices.Equal(r.Via, o.Via)
}

// String is the route as ip route prints it, without the blank at the end of ip's lines. Several
// next hops are separate lines.
func (r *Route) String() string {
	var b strings.Builder
	if r.Type != Unicast {
		b.WriteString(string(r.Type) + " ")
	}
	switch {
	case r.Dst.Bits() == 0:
		b.WriteString("default")
	case r.Dst.IsSingleIP():
		b.WriteString(r.Dst.Addr().String())
	default:
		b.WriteString(r.Dst.String())
	}
	if len(r.Via) == 1 {
		b.WriteString(" via " + r.Via[0].String())
	}
	if r.Dev != "" && len(r.Via) < 2 {
		b.WriteString(" dev " + r.Dev)
	}
	if r.Proto != "" {
		b.WriteString(" proto " + r.Proto)
	}
	if r.Type == Unicast && len(r.Via) == 0 && r.Dst.Addr().Is4() {
		b.WriteString(" scope link")
	}
	if r.Metric > 0 {
		fmt.Fprintf(&b, " metric %d", r.Metric)
	}
	if r.Src.IsValid() {
		b.WriteString(" src " + r.Src.String())
	}
	if r.OnLink && len(r.Via) < 2 {
		b.WriteString(" onlink")
	}
	if r.Dst.Addr().Is6() {
		b.WriteString(" pref medium")
	}
	if len(r.Via) > 1 {
		for _, v := range r.Via {
			fmt.Fprintf(&b, "\n\tnexthop via %s dev %s weight 1", v, r.Dev)
			if r.OnLink {
				b.WriteString(" onlink")
			}
		}
	}
	return b.String()
}

// Table is the routing table of one node or router.
type Table struct {
	Name   string
	Routes []Route // as ip route sorts them: by address, of one address the longest first
}

// String is what ip route prints, one route a line.
func (t Table) String() string {
	var b strings.Builder
	for i := range t.Routes {
		b.WriteString(t.Routes[i].String())
		b.WriteByte('\n')
	}
	return b.String()
}

// compareRoute is the order of the kernel's trie: aliases of one address are
// kept with the longest prefix first, and the default route comes before all
// since its address is zero. Source: net/ipv4/fib_trie.c, fib_insert_alias.
func compareRoute(a, b Route) int {
	if c := a.Dst.Addr().Compare(b.Dst.Addr()); c != 0 {
		return c
	}
	return b.Dst.Bits() - a.Dst.Bits()
}
