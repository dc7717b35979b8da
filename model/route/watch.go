package route

import (
	"net/netip"

	"ipamsim/model/route/fib"
)

// Watch follows the changes of a plane's routing tables: a large cluster has a million routes,
// and a step changes a few.
type Watch struct {
	p  *Plane
	on []bool // by place: it was there and had power
}

// Watch begins to follow. There is one at a time.
func (p *Plane) Watch() *Watch {
	p.changed = map[hereKey]bool{}
	w := &Watch{p: p}
	for i := range p.t.Forwarders {
		for dst := range p.t.Forwarders[i].Routes() {
			p.changed[hereKey{i, dst}] = true
		}
	}
	return w
}

// Changes calls report for every route that changed since the last call, in no order: the node
// or router that has it, its destination, and its current value, nil if there is none. As with
// Tables.Of, a node without power has no routes. A route that was added and removed between
// two calls may be reported as removed.
func (w *Watch) Changes(report func(place string, dst netip.Prefix, now *fib.Route)) {
	t := w.p.t
	for i := range t.Forwarders {
		pl := &t.Forwarders[i]
		if i == len(w.on) {
			w.on = append(w.on, false)
		}
		if on := pl.Up && !pl.Gone; on != w.on[i] {
			w.on[i] = on
			for dst := range pl.Routes() {
				w.p.changed[hereKey{i, dst}] = true
			}
		}
	}
	for k := range w.p.changed {
		var now *fib.Route
		if w.on[k.at] {
			now = t.Forwarders[k.at].Route(k.dst)
		}
		report(t.Forwarders[k.at].Name, k.dst, now)
	}
	clear(w.p.changed)
}
