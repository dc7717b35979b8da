package route

import (
	"net/netip"

	"ipamsim/model/route/fib"
)

// Watch follows the routing tables of a plane for somebody who looks at what
// changed only: a large cluster has a million routes, and a step touches a few.
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

// Changes tells of every route that is another than at the last call, in no order:
// the place that has it, its destination and what it is now, nil if there is none.
// As in Tables.Of a place without power has none. A route that came and went
// meanwhile may be told of as gone.
func (w *Watch) Changes(tell func(place string, dst netip.Prefix, now *fib.Route)) {
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
		tell(t.Forwarders[k.at].Name, k.dst, now)
	}
	clear(w.p.changed)
}
