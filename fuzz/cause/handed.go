package cause

import (
	"net/netip"
	"slices"
	"strings"
	"time"

	"ipamsim/model"
	"ipamsim/model/act"
	"ipamsim/model/invariant"
	"ipamsim/sim"
)

// What was handed out though nobody held it, or somebody did: the ADD that returned it,
// and who had given it back.

// returned is the ADD that returned the address of the violation, nil if none did.
func (r *run) returned() *model.Event {
	of := addresses(r.v.Objects)
	for i := r.v.To - 1; i >= 0; i-- {
		e := &r.rep.History.Events[i]
		had := func(a netip.Addr) bool { return slices.Contains(of, model.AddressOf(a)) }
		if e.Kind == model.AddEnd && e.Err == "" && slices.Contains(r.v.Objects, model.PodOf(e.Pod)) && r.network(e) && slices.ContainsFunc(e.Addrs, had) {
			return e
		}
	}
	return nil
}

// network reports whether a call was for the violation's network, if that has one.
func (r *run) network(e *model.Event) bool {
	n := only(r.v.Objects, model.RefNetwork)
	return len(n) == 0 || slices.Contains(n, model.Ref{Kind: model.RefNetwork, Name: e.Network})
}

// claimed reports whether the last change of the claim, the i-th, says anything of what an
// ADD has returned: it is that ADD's, or what became of a claim that was there. One that
// came by somebody else is another's.
func (r *run) claimed(e *model.Event, i int) bool {
	if i < 0 || r.rep.Ledger.Changes[i].Row != model.RefAddress {
		return false
	}
	c := &r.rep.Ledger.Changes[i]
	st := stepOf(r.rep.Trace, c.Step)
	own := st == nil || string(st.Choice.Op.Actor) == e.Actor // nil: it was there before the first step
	mine := c.Names(addresses(r.v.Objects)...) && c.Names(model.PodOf(e.Pod))
	earlier := c.Gone && c.Step <= r.began(e) // a namesake's
	return mine && (own || !c.Came && !earlier)
}

// began is the step after which a call began that has ended.
func (r *run) began(end *model.Event) int {
	for i := range r.rep.History.Events {
		if e := &r.rep.History.Events[i]; e.Kind == model.AddBegin && e.Actor == end.Actor {
			return e.Step
		}
	}
	return 0
}

// freed is who took the claim of an address away before the i-th change gave it to
// somebody else, nobody if it is still there, or was of none who has the address. In another
// pool it matters if addresses are reserved across pools, else that one knows nothing of it.
// What takes it from a pod that still has it, and is no DEL, breaks that itself: whoever is
// given it then only shows it.
func (r *run) freed(i int, addrs []model.Ref) (out []Link, broke bool) {
	l, holders := r.rep.Ledger, r.holders(addrs)
	pools := only(l.Changes[i].Refs, model.RefPool)
	before := l.Changes[i].Step - 1
	if l.Last(before, addrs, model.RefReservation) >= 0 {
		pools = nil
	}
	j := l.LastOf(before, func(c *model.Change) bool {
		return c.Row == model.RefAddress && c.Names(addrs...) && c.Names(holders...) && (len(pools) == 0 || c.Names(pools...))
	})
	if j < 0 || !l.Changes[j].Gone {
		return nil, false
	}
	st := stepOf(r.rep.Trace, l.Changes[j].Step)
	if st == nil {
		return nil, false
	}
	if st.Choice.Op.Actor.Kind() != "cni-del" {
		return r.by(j, addrs), true
	}
	link := r.link(Freed, st)
	link.Whose = r.whose(&l.Changes[j], st)
	return []Link{link}, false
}

// holders are who has an address of the violation: the containers for which it was
// returned, for a namesake's is another; else pods, or else the node whose tunnel's it is.
func (r *run) holders(addrs []model.Ref) (out []model.Ref) {
	pods := slices.DeleteFunc(only(r.v.Objects, model.RefPod), func(p model.Ref) bool { return strings.HasPrefix(p.Name, "/") })
	for i := range r.rep.History.Events[:r.v.To] {
		e := &r.rep.History.Events[i]
		had := func(a netip.Addr) bool { return slices.Contains(addrs, model.AddressOf(a)) }
		if e.Kind == model.AddEnd && e.Err == "" && slices.Contains(pods, model.PodOf(e.Pod)) && slices.ContainsFunc(e.Addrs, had) {
			out = append(out, model.Ref{Kind: model.RefContainer, Name: e.Container})
		}
	}
	switch {
	case len(out) > 0:
		return out
	case len(pods) > 0:
		return pods
	}
	return only(r.v.Objects, model.RefNode)
}

// taken is the change by which an ADD that returned the address lost it while it was still
// on its way: the first that another process made of its claim. It is the i-th if nobody did.
func (r *run) taken(i int, addrs []model.Ref) int {
	l, e := r.rep.Ledger, r.returned()
	if r.v.Invariant != invariant.UnbackedSandbox.Name || e == nil {
		return i
	}
	own := l.LastOf(e.Step, func(c *model.Change) bool {
		st := stepOf(r.rep.Trace, c.Step)
		return c.Row == model.RefAddress && c.Names(addrs...) && st != nil && string(st.Choice.Op.Actor) == e.Actor
	})
	for j := own + 1; own >= 0 && j < i; j++ {
		c := &l.Changes[j]
		if pools := only(l.Changes[own].Refs, model.RefPool); c.Row == model.RefAddress && c.Names(addrs...) && (len(pools) == 0 || c.Names(pools...)) {
			return j
		}
	}
	return i
}

// handed is an ADD that returned the address, by its last message; if a write failed
// meanwhile without its minding, that says more.
func (r *run) handed(e *model.Event) []Link {
	l, failed := r.lastOf(Handed, e.Actor, e.Step), r.failed(e)
	if failed != nil {
		l.Verb, l.Resource, l.Functions = "", "", nil
	}
	return append([]Link{l}, failed...)
}

// found is of what nobody changed the ADD that ended when the invariant broke, and of
// nothing such the message after which it was found.
func (r *run) found() []Link {
	for i := r.v.From; i < r.v.To; i++ {
		e := &r.rep.History.Events[i]
		if e.Kind == model.AddEnd && e.Err == "" && slices.Contains(r.v.Objects, model.PodOf(e.Pod)) {
			return r.handed(e)
		}
	}
	if delayed(r.v.Invariant) {
		return nil
	}
	st := stepOf(r.rep.Trace, r.v.Step)
	if rules[r.v.Invariant].Write.Answered {
		st = r.answered()
	}
	if st != nil && st.Choice.Op.Kind == sim.Write {
		return []Link{r.link(Wrote, st)}
	}
	return nil
}

// unmarked is who freed a node port that somebody still had, which stands aside: with it
// the faults of its process count, though another one gave the port away.
func (r *run) unmarked(ports []model.Ref) []Link {
	i := r.rep.Ledger.LastOf(r.v.Step, func(c *model.Change) bool { return c.Row == model.RefNodePort && c.Gone && c.Names(ports...) })
	if i < 0 {
		return nil
	}
	out := r.by(i, ports)
	for j := range out {
		out[j].Role, out[j].Aside = Freed, true
	}
	return out
}

// answered is the last write before an answer, which may be seen long after it; nil if
// there is none.
func (r *run) answered() *sim.Step {
	at, _ := model.FactOf[time.Duration](r.v.Facts, "at")
	for _, st := range slices.Backward(r.rep.Trace.Steps) {
		if st.Step <= r.v.Step && st.At <= at && st.Choice.Op.Kind == sim.Write && st.Choice.Op.Actor.Kind() != operator {
			return st
		}
	}
	return nil
}

// failed is the first write of a call that was not done, and of whose object it wrote
// nothing afterwards that was.
func (r *run) failed(call *model.Event) (out []Link) {
	steps := r.rep.Trace.Steps
	done := map[string]bool{}
	for i := len(steps) - 1; i >= 0 && steps[i].At >= call.Begun; i-- {
		st := steps[i]
		op := st.Choice.Op
		if st.Step > call.Step || string(op.Actor) != call.Actor || op.Kind != sim.Write || op.Request == nil {
			continue
		}
		if a := r.rep.Did(st); !st.Choice.Outcome.Fault() && a.Outcome == act.Done {
			done[op.Request.Path] = true
		} else if !done[op.Request.Path] {
			out = []Link{r.link(Failed, st)}
		}
	}
	return out
}
