package linear

import (
	"cmp"
	"net/netip"
	"slices"
	"time"

	"github.com/anishathalye/porcupine"

	"ipamsim/model"
)

// hold is the time in which one sandbox has one address: from the ADD that returned the address
// until it is released after the end of the sandbox.
type hold struct {
	addr      netip.Addr
	network   string
	policy    *model.Network // nil if the network is not known
	iface     string
	container string
	pod       model.PodRef
	node      string
	adds      []span // more than one if ADD was repeated for a running sandbox
	// freed is when the release may take effect. It begins at the end of the sandbox, which is
	// before its DEL, because a reconciler may be faster. It ends when DEL has returned. If DEL
	// failed, was killed, or was never called, a reconciler may release the address at any
	// later time, or never: then the span has no end.
	freed   span
	given   bool   // the sandbox has ended, so freed has begun
	settled bool   // freed has an end
	why     string // why the sandbox ended
}

// span is an interval of virtual time.
type span struct{ from, to time.Duration }

// port is an interface of a sandbox, the subject of an ADD and its DELs.
type port struct{ container, network, iface string }

// reader converts events to holds.
type reader struct {
	policies []model.Network
	begun    map[port]time.Duration // ADDs that have not returned
	alive    map[string][]*hold     // of running sandboxes, by container
	dead     map[port][]*hold       // of ended sandboxes whose DEL has not returned
	gone     map[string]string      // why sandboxes ended, by container
	all      []*hold
}

// holds returns the holds of a history, in the order in which ADDs returned.
//
// An ADD that failed or was killed has no hold: if it claimed an address, the address is not
// known, and the claim could only have blocked others.
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
			r.down(e) // the sandbox may have ended during the ADD
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

// die ends a sandbox: no process in it sends any more.
func (r *reader) die(e *model.Event, why string) {
	if _, ok := r.gone[e.Container]; !ok {
		r.gone[e.Container] = why
	}
	r.down(e)
}

// down begins the release of what an ended sandbox holds.
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

// touches reports whether two holds of the same address are on the same wire.
func (h *hold) touches(o *hold) bool {
	if h.policy == nil || o.policy == nil {
		return h.network == o.network
	}
	if h.policy.Local && o.policy.Local && h.node != o.node {
		return false
	}
	return model.SameDomain(h.policy, o.policy, h.addr)
}

// wire is all holds of one address in networks that share a wire. SameDomain is not transitive, so
// two of the holds may still be independent; set.Step checks each pair.
type wire struct {
	addr  netip.Addr
	holds []*hold
	last  time.Duration // after everything else
}

// wires returns all wires, sorted by address, then by the first ADD.
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

// operations returns the holds as operations for porcupine, with one client for each sandbox.
// Operations at the same virtual time are concurrent, because no process could observe their order.
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
			f.to = w.last // the same as never
		}
		out = append(out, porcupine.Operation{ClientId: i, Input: input{free, h}, Call: int64(f.from), Return: int64(f.to), Metadata: h})
	}
	return out
}
