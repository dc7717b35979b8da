package route

import (
	"cmp"
	"net/netip"
	"slices"
	"time"

	"ipamsim/model/route/fib"
)

// Network is the routes of a cluster in both address families, each a Plane that knows
// nothing of the other. There is one for IPv6 from when facts first have an IPv6 pool
// or pod. Routers are numbered in the order of each family's subnets.
type Network struct {
	fabric    Fabric
	four, six *Plane   // six is nil where nothing is routed in IPv6
	watch     []*Watch // one per plane, in this order; empty: no watch

	both   []Loss    // of the two lists in merged
	merged [2][]Loss // what both was made of
}

// NewNetwork is the network of a cluster without any node. The fabric must have passed
// Check.
func NewNetwork(f Fabric) *Network { return &Network{fabric: f, four: New(f)} }

// Observe is Plane.Observe, with the facts of each family.
func (n *Network) Observe(at time.Duration, four, six Facts) {
	if n.six == nil && len(six.Pools)+len(six.Local) > 0 {
		n.begin(at, six)
	}
	n.four.Observe(at, four)
	if n.six != nil {
		n.six.Observe(at, six)
	}
}

// begin creates the IPv6 half. If the IPv4 half has run for a while, so have its daemons:
// adding a pool does not start them.
func (n *Network) begin(at time.Duration, f Facts) {
	n.six = New(n.fabric)
	if at > 0 {
		f.Local, f.Affinities, f.Blocks, f.Nodes = nil, nil, nil, slices.Clone(f.Nodes)
		for i := range f.Nodes {
			f.Nodes[i].Up, f.Nodes[i].BIRD, f.Nodes[i].Felix = true, true, true
		}
		n.six.now = at - Recovery
		n.six.Observe(n.six.now, f)
	}
	if n.watch != nil {
		n.watch = append(n.watch, n.six.Watch())
	}
}

func (n *Network) planes() []*Plane {
	if n.six == nil {
		return []*Plane{n.four}
	}
	return []*Plane{n.four, n.six}
}

// Next is when routes will change by themselves; ok is false if they will not.
func (n *Network) Next() (at time.Duration, ok bool) {
	for _, p := range n.planes() {
		if next, will := p.Next(); will && (!ok || next < at) {
			at, ok = next, true
		}
	}
	return at, ok
}

// Advance is Plane.Advance.
func (n *Network) Advance(at time.Duration) {
	for _, p := range n.planes() {
		p.Advance(at)
	}
}

// Losses are the losses of both families, as in Plane.Losses.
func (n *Network) Losses() []Loss {
	four := n.four.Losses()
	if n.six == nil {
		return four
	}
	six := n.six.Losses()
	switch {
	case len(six) == 0:
		return four
	case len(four) == 0:
		return six
	case !same(n.merged[0], four) || !same(n.merged[1], six):
		n.merged = [2][]Loss{four, six}
		n.both = slices.Concat(four, six)
		slices.SortFunc(n.both, compareLoss)
	}
	return n.both
}

// same reports whether two lists are one: a plane makes a new one when losses change.
func same(a, b []Loss) bool { return len(a) == len(b) && len(a) > 0 && &a[0] == &b[0] }

func compareLoss(a, b Loss) int { return cmp.Or(cmp.Compare(a.From, b.From), a.To.Compare(b.To)) }

// Size is how many routes there are.
func (n *Network) Size() (size int) {
	for _, p := range n.planes() {
		size += p.t.Size()
	}
	return size
}

// Table returns the table of a node or router in one family; ok is false if that family does
// not know the name.
func (n *Network) Table(name string, six bool) (t fib.Table, ok bool) {
	switch {
	case !six:
		return n.four.t.Of(name)
	case n.six != nil:
		return n.six.t.Of(name)
	}
	_, ok = n.four.t.Of(name)
	return fib.Table{Name: name}, ok
}

// Each calls put for every route of the network, by place and family.
func (n *Network) Each(put func(place string, dst netip.Prefix, r *fib.Route)) {
	for _, p := range n.planes() {
		for _, name := range p.t.Names() {
			table, _ := p.t.Of(name)
			for i := range table.Routes {
				put(name, table.Routes[i].Dst, &table.Routes[i])
			}
		}
	}
}

// Watch follows the routes of both families; see Watch.Changes.
func (n *Network) Watch() (changes func(report func(place string, dst netip.Prefix, now *fib.Route))) {
	for _, p := range n.planes() {
		n.watch = append(n.watch, p.Watch())
	}
	return func(report func(string, netip.Prefix, *fib.Route)) {
		for _, w := range n.watch {
			w.Changes(report)
		}
	}
}
