package linear

import (
	"cmp"
	"net/netip"
	"slices"
	"time"

	"github.com/anishathalye/porcupine"

	"ipamsim/model"
)

// hold is one address in the hands of one sandbox: what is taken by the ADD that
// returned it and given back once the sandbox is gone.
type hold struct {
	addr      netip.Addr
	network   string
	policy    *model.Network // nil if nobody said what the network is
	iface     string
	container string
	pod       model.PodRef
	node      string
	adds      []span // more than one if ADD was repeated for a living sandbox
	// Freed is when it may be free again. It begins when the sandbox is dead, which
	// is before its DEL: a reconciler may be faster. It ends when DEL has
	// returned. A DEL that failed, was killed, or never came may be made up for
	// by a reconciler at any time after, or never: then it has no end.
	freed   span
	given   bool   // back, or lost with its sandbox: there is such a span
	settled bool   // it has an end
	why     string // the sandbox died
}

// span of virtual time.
type span struct{ from, to time.Duration }

// port is an interface of a sandbox: what an ADD and its DELs are about.
type port struct{ container, network, iface string }

// reader makes holds of events.
type reader struct {
	policies []model.Network
	begun    map[port]time.Duration // ADDs under way
	alive    map[string][]*hold     // of sandboxes, by container
	dead     map[port][]*hold       // whose DEL has not returned
	gone     map[string]string      // sandboxes that are dead, by container: why
	all      []*hold
}

// holds of a history, in the order in which they were handed out.
//
// An ADD that failed or was killed is not one: if it took an address, nobody
// knows which, and that can only have been in the way of others.
func holds(h *model.History, policies []model.Network) []*hold {
	r := &reader{policies: policies, begun: map[port]time.Duration{}, alive: map[string][]*hold{}, dead: map[port][]*hold{}, gone: map[string]string{}}
	for i := range h.Events {
		e := &h.Events[i]
		p := port{e.Container, e.Network, e.Interface}
		switch e.Kind {
		case model.AddBegin:
			r.begun[p] = e.At
		case model.AddEnd:
			if e.Err == "" {
				r.added(p, e)
			}
			r.down(e) // the sandbox may have died during the ADD
		case model.SandboxDown:
			r.die(e, e.Text)
		case model.DelBegin:
			r.die(e, "DEL")
		case model.DelEnd:
			if e.Err == "" {
				r.deleted(p, e)
			}
		}
	}
	return r.all
}

func (r *reader) added(p port, e *model.Event) {
	for _, a := range e.Addrs {
		add := span{r.begun[p], e.At}
		same := func(h *hold) bool { return h.addr == a && h.network == p.network && h.iface == p.iface }
		if i := slices.IndexFunc(r.alive[p.container], same); i >= 0 {
			h := r.alive[p.container][i]
			h.adds = append(h.adds, add)
			continue
		}
		h := &hold{
			addr: a, network: p.network, iface: p.iface, container: p.container, pod: e.Pod, node: e.Node,
			adds: []span{add}, policy: model.NetworkByKey(r.policies, p.network),
		}
		r.alive[p.container] = append(r.alive[p.container], h)
		r.all = append(r.all, h)
	}
}

// die: nothing in the sandbox sends any more.
func (r *reader) die(e *model.Event, why string) {
	if _, ok := r.gone[e.Container]; !ok {
		r.gone[e.Container] = why
	}
	r.down(e)
}

// down has a dead sandbox give back what it holds.
func (r *reader) down(e *model.Event) {
	why, ok := r.gone[e.Container]
	if !ok {
		return
	}
	for _, h := range r.alive[e.Container] {
		h.freed.from, h.given, h.why = e.At, true, why
		p := port{h.container, h.network, h.iface}
		r.dead[p] = append(r.dead[p], h)
	}
	delete(r.alive, e.Container)
}

func (r *reader) deleted(p port, e *model.Event) {
	for _, h := range r.dead[p] {
		h.freed.to, h.settled = e.At, true
	}
	delete(r.dead, p)
}

// touches reports whether two holds of the address are on one wire.
func (h *hold) touches(o *hold) bool {
	if h.policy == nil || o.policy == nil {
		return h.network == o.network
	}
	if h.policy.Local && o.policy.Local && h.node != o.node {
		return false
	}
	return model.SameDomain(h.policy, o.policy, h.addr)
}

// wire is all there is to say of one address, as far as its networks touch.
// SameDomain is not transitive: two of the holds may still have nothing to do
// with each other, which Step asks again.
type wire struct {
	addr  netip.Addr
	holds []*hold
	last  time.Duration // after everything else
}

// wires are sorted by address, then by the first ADD.
func wires(h *model.History, policies []model.Network) []*wire {
	byAddr := map[netip.Addr][]*wire{}
	for _, x := range holds(h, policies) {
		w := &wire{addr: x.addr, holds: []*hold{x}}
		var apart []*wire
		for _, o := range byAddr[x.addr] {
			if slices.ContainsFunc(o.holds, x.touches) {
				w.holds = append(o.holds, w.holds...)
			} else {
				apart = append(apart, o)
			}
		}
		byAddr[x.addr] = append(apart, w)
	}
	var out []*wire
	for _, ws := range byAddr {
		out = append(out, ws...)
	}
	for _, w := range out {
		slices.SortStableFunc(w.holds, func(a, b *hold) int { return cmp.Compare(a.adds[0].to, b.adds[0].to) })
		for _, x := range w.holds {
			for _, a := range append(x.adds, x.freed) {
				w.last = max(w.last, a.from+1, a.to+1)
			}
		}
	}
	slices.SortFunc(out, func(a, b *wire) int {
		return cmp.Or(a.addr.Compare(b.addr), cmp.Compare(a.holds[0].adds[0].to, b.holds[0].adds[0].to), cmp.Compare(a.holds[0].network, b.holds[0].network))
	})
	return out
}

// operations for porcupine: the client of an operation is a sandbox. What
// happens at one instant of virtual time is taken for concurrent; nothing could
// see an order in it.
func (w *wire) operations() []porcupine.Operation {
	var out []porcupine.Operation
	for i, h := range w.holds {
		for _, a := range h.adds {
			out = append(out, porcupine.Operation{ClientId: i, Input: input{take, h}, Call: int64(a.from), Return: int64(a.to), Metadata: h})
		}
		if !h.given {
			continue
		}
		f := h.freed
		if !h.settled {
			f.to = w.last // returning last is as good as never
		}
		out = append(out, porcupine.Operation{ClientId: i, Input: input{free, h}, Call: int64(f.from), Return: int64(f.to), Metadata: h})
	}
	return out
}
