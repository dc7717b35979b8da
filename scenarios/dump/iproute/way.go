package iproute

import (
	"net/netip"
	"slices"
	"strings"
)

// Way is what a node does with packets to an address.
type Way struct {
	Known bool // else nothing can be concluded
	Route *Route
	// Doubt is the rule that can drop the packets or not, by what is not known of them, or whose
	// table, Table, the dump does not have; nil: no rule can.
	Doubt *Rule
	Table string
}

// Drops reports whether the packets are known to end on the node.
func (w *Way) Drops() bool { return w.Known && (w.Route == nil || w.Route.Drops()) }

// Node are the routes and rules of one node.
type Node struct {
	Name   string
	Routes []Route
	// Rules are those of IPv4 and of IPv6, in the order in which the kernel follows them.
	Rules [2][]Rule

	tables  [2]map[string]bool // that are complete; all: each one
	ruled   [2]bool            // the rules are complete
	partial [2]bool            // some rules were read
	numeric struct{ routes, rules bool }
	mixed   bool // two listings differ
	seen    []*Output
}

// take adds the output of a command.
func (n *Node) take(x *Output) {
	for f := range n.tables {
		if f == 0 && x.Six || f == 1 && x.Four {
			continue
		}
		switch {
		case len(x.Rules) > 0:
			n.takeRules(f, x)
		case x.Whole:
			if n.tables[f] == nil {
				n.tables[f] = map[string]bool{}
			}
			n.mixed = n.mixed || slices.ContainsFunc(n.seen, func(o *Output) bool {
				return o.Whole && !(f == 0 && o.Six) && !(f == 1 && o.Four) && o.differs(x, f == 0)
			})
			n.tables[f][x.Table] = true
		}
	}
	if len(x.Rules) > 0 {
		n.numeric.rules = x.Numeric
		return
	}
	n.numeric.routes, n.seen = x.Numeric, append(n.seen, x)
	for _, r := range x.Routes {
		if !slices.ContainsFunc(n.Routes, func(y Route) bool { return y.Text == r.Text && y.Table == r.Table }) {
			n.Routes = append(n.Routes, r)
		}
	}
}

// rulesMax bounds the rules of a node: each may cost all of its routes.
const rulesMax = 1000

// takeRules adds the rules of a family.
func (n *Node) takeRules(f int, x *Output) {
	n.partial[f] = true
	if !x.Whole || len(x.Rules) > rulesMax {
		return
	}
	same := func(a, b Rule) bool { return a.Text == b.Text }
	n.mixed = n.mixed || n.ruled[f] && !slices.EqualFunc(n.Rules[f], x.Rules, same)
	n.ruled[f] = true
	n.Rules[f] = slices.Clone(x.Rules)
	slices.SortStableFunc(n.Rules[f], func(a, b Rule) int { return a.Prio - b.Prio })
}

// differs reports whether two listings have other routes in a table of both: main, or the one that either is of.
func (x *Output) differs(o *Output, four bool) bool {
	table := x.Table
	if table == "all" {
		table = o.Table
	}
	if table == "all" {
		table = "main"
	}
	if o.Table != "all" && o.Table != table {
		return false
	}
	of := func(all []Route) (out []string) {
		for _, r := range all {
			if r.Table == table && (!r.Dst.IsValid() || r.Dst.Addr().Is4() == four) {
				out = append(out, r.plain)
			}
		}
		slices.Sort(out)
		return slices.Compact(out)
	}
	return !slices.Equal(of(x.Routes), of(o.Routes))
}

// Way is where the node sends packets to an address. sources are the addresses that they may be
// from; none: any.
//
// It is known if the rules that the packets match are, and the routes of their tables are complete, for
// a route that is not shown may be a better one. Without rules it is known if no other table than local
// and main has a route for the address, which rules may prefer. A nil Route: the node has none.
func (n *Node) Way(a netip.Addr, sources ...netip.Addr) Way {
	f := family(a)
	switch {
	case n.ruled[f]:
		return n.follow(n.Rules[f], a, sources)
	case n.partial[f] || !n.complete(f, "main"):
		return Way{}
	}
	for i := range n.Routes {
		r := &n.Routes[i]
		if other := r.Table != "main" && r.Table != "local" && r.Table != "default"; r.covers(a) && (other || r.Type == "throw") {
			return Way{}
		}
	}
	route, dead := n.best(a, "local", "main", "default")
	return Way{Known: !dead, Route: route}
}

// complete reports whether the dump has all routes of a table.
func (n *Node) complete(f int, table string) bool { return n.tables[f]["all"] || n.tables[f][table] }

// covers reports whether a route is for an address.
func (r *Route) covers(a netip.Addr) bool {
	return r.Dst.IsValid() && r.Dst.Contains(a) && r.Type != "broadcast" && r.Type != "multicast" && r.Type != "anycast"
}

// best is the route of some tables that the kernel prefers for an address; nil: there is none. dead: one of them is
// not used by the kernel, as far as the line shows.
func (n *Node) best(a netip.Addr, tables ...string) (best *Route, dead bool) {
	for i := range n.Routes {
		r := &n.Routes[i]
		if !r.covers(a) || !slices.Contains(tables, r.Table) {
			continue
		}
		if r.Dead {
			return nil, true
		}
		if best == nil || better(r, best) {
			best = r
		}
	}
	return best, false
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

// match is whether packets match a rule.
type match int

const (
	no match = iota
	yes
	perhaps
)

// follow is where rules send packets. A rule that they may match or not is without effect if it sends them to where
// the rules behind it do.
//
// Source: net/core/fib_rules.c, fib_rules_lookup; net/ipv4/fib_rules.c, fib4_rule_action, fib4_rule_suppress
// (Linux 6.12).
func (n *Node) follow(rules []Rule, a netip.Addr, sources []netip.Addr) Way {
	for i := range rules {
		r := &rules[i]
		m := r.matches(a, sources)
		switch {
		case m == no || r.Type == "nop":
			continue
		case r.Goto > 0 && m == perhaps:
			return Way{Doubt: r}
		case r.Goto > 0:
			to := slices.IndexFunc(rules[i+1:], func(o Rule) bool { return o.Prio >= r.Goto })
			if to < 0 {
				return Way{Known: true}
			}
			return n.follow(rules[i+1+to:], a, sources)
		}
		way, ends := n.act(r, a)
		if !ends {
			continue
		}
		if m == yes || !way.Known {
			return way
		}
		rest := n.follow(rules[i+1:], a, sources)
		switch {
		case !rest.Known && rest.Doubt == nil && way.Drops():
			return Way{Doubt: r}
		case !rest.Known || way.Route.same(rest.Route):
			return rest
		case way.Drops() != rest.Drops():
			return Way{Doubt: r}
		}
		return Way{}
	}
	return Way{Known: true}
}

// matches compares packets with the selectors of a rule.
func (r *Rule) matches(a netip.Addr, sources []netip.Addr) (m match) {
	m = yes
	if r.Dst.IsValid() && !r.Dst.Contains(a) {
		m = no
	}
	if r.Src.IsValid() && m == yes {
		in, out := 0, 0
		for _, s := range sources {
			switch {
			case s.Is4() != a.Is4():
			case r.Src.Contains(s):
				in++
			default:
				out++
			}
		}
		switch {
		case in == 0 && out > 0:
			m = no
		case in == 0 || out > 0:
			m = perhaps
		}
	}
	if r.Other && m != no {
		m = perhaps
	}
	if r.Not && m != perhaps {
		return yes - m
	}
	return m
}

// act is what a rule does with packets that match it. ends is false if the next rule follows.
func (n *Node) act(r *Rule, a netip.Addr) (w Way, ends bool) {
	f := family(a)
	if r.Type != "" {
		to := r.Dst
		if !to.IsValid() {
			to, _ = a.Prefix(0)
		}
		return Way{Known: true, Route: &Route{Dst: to, Type: r.Type, From: r.From, Text: r.Text}}, true
	}
	own := r.Table == "local" || r.Table == "default" // few listings have them, and no routes to pods are in them
	route, dead := n.best(a, r.Table)
	switch {
	case strings.HasPrefix(r.Table, "["): // that of the packet's VRF
		return Way{Doubt: r}, true
	case len(n.tables[f]) == 0 || dead:
		return Way{}, true
	case !own && !n.complete(f, r.Table), !own && n.numeric.routes != n.numeric.rules && r.Table != "main": // names of tables, and their numbers
		return Way{Doubt: r, Table: r.Table}, true
	case route == nil || route.Type == "throw":
		return w, false
	case r.Group:
		return Way{Doubt: r}, true
	case route.Dst.Bits() <= r.Suppress:
		return w, false
	}
	return Way{Known: true, Route: route}, true
}

// same reports whether two routes have the same effect; nil: there is none.
func (r *Route) same(o *Route) bool {
	if r == nil || o == nil || r.Drops() || o.Drops() {
		return (r == nil || r.Drops()) && (o == nil || o.Drops())
	}
	return r.Type == o.Type && r.Dev == o.Dev && slices.Equal(r.Via, o.Via)
}

// Dropping returns a function that reports whether the node may drop packets to an address: a route or a rule drops
// them, or there is no default route. Way decides, and takes longer.
func (n *Node) Dropping() func(netip.Addr) bool {
	var drops []netip.Prefix
	sends := [2]bool{} // by a default route: IPv4, IPv6
	for i := range n.Routes {
		switch r := &n.Routes[i]; {
		case !r.Dst.IsValid():
		case r.Drops():
			drops = append(drops, r.Dst)
		case r.Dst.Bits() == 0 && r.Table == "main":
			sends[family(r.Dst.Addr())] = true
		}
	}
	for f := range n.Rules {
		sends[f] = sends[f] && (!n.ruled[f] || slices.ContainsFunc(n.Rules[f], func(r Rule) bool { return r.Table == "main" }))
		for i := range n.Rules[f] {
			r := &n.Rules[f][i]
			missing := r.Table != "" && r.Table != "local" && r.Table != "default" && !n.complete(f, r.Table)
			sends[f] = sends[f] && !missing && r.Goto == 0 && (!r.drops() || r.Dst.IsValid())
			if r.drops() && r.Dst.IsValid() {
				drops = append(drops, r.Dst)
			}
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
