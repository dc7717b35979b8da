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

// Violations in which an ADD returned an address that had no claim, or that another pod still
// held: the ADD that returned the address, and the process that had released it.

// returned returns the ADD that returned the violation's address, nil if none did.
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

// network reports whether a call was for the violation's network. A violation without a
// network matches every call.
func (r *run) network(e *model.Event) bool {
	n := only(r.v.Objects, model.RefNetwork)
	return len(n) == 0 || slices.Contains(n, model.Ref{Kind: model.RefNetwork, Name: e.Network})
}

// claimed reports whether the last change of the claim, the i-th, explains what an ADD
// returned: the ADD itself made the change, or it changed or removed a claim that existed.
// A claim that another process created is not the ADD's.
func (r *run) claimed(e *model.Event, i int) bool {
	if i < 0 || r.rep.Ledger.Changes[i].Row != model.RefAddress {
		return false
	}
	c := &r.rep.Ledger.Changes[i]
	st := stepOf(r.rep.Trace, c.Step)
	own := st == nil || string(st.Choice.Op.Actor) == e.Actor // nil: the claim existed before the first step
	mine := c.Names(addresses(r.v.Objects)...) && c.Names(model.PodOf(e.Pod))
	earlier := c.Gone && c.Step <= r.began(e) // the claim of an earlier pod with the same name
	return mine && (own || !c.Came && !earlier)
}

// began returns the step after which a call began, by the event of its end.
func (r *run) began(end *model.Event) int {
	for i := range r.rep.History.Events {
		if e := &r.rep.History.Events[i]; e.Kind == model.AddBegin && e.Actor == end.Actor {
			return e.Step
		}
	}
	return 0
}

// freed returns the link of the write that released an address before the i-th change claimed
// it for another pod. It is empty if the claim still exists, or was not the current holder's.
// A claim in another pool matters only if addresses are reserved across pools; otherwise the
// pools do not know of each other.
//
// broke: a write other than a DEL's removed the claim of a pod that still has the address. That
// write itself broke the invariant; the later claim only makes it visible.
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

// holders returns the holders of the violation's addresses: the containers for which the
// addresses were returned (several pods may have had the same name), otherwise the pods,
// otherwise the node whose tunnel address it is.
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

// taken returns the change by which an ADD lost its address while the ADD was still running:
// the first change of the claim by another process. If there is none, it returns i.
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

// handed returns the ADD that returned the address, as its last message, followed by its
// failed write if it ignored one. That write is more specific: the last message is then cleared.
func (r *run) handed(e *model.Event) []Link {
	l, failed := r.lastOf(Handed, e.Actor, e.Step), r.failed(e)
	if failed != nil {
		l.Verb, l.Resource, l.Functions = "", "", nil
	}
	return append([]Link{l}, failed...)
}

// found explains a violation whose object has no change in the record: by the ADD that ended
// when the invariant broke, or by the write after which the violation was detected.
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

// unmarked returns the write that freed a node port that was still in use, marked Aside: faults
// of its process count as faults of the cause, though another process assigned the port.
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

// answered returns the last write before an answer, nil if there is none. The violation may be
// detected long after the answer.
func (r *run) answered() *sim.Step {
	at, _ := model.FactOf[time.Duration](r.v.Facts, "at")
	for _, st := range slices.Backward(r.rep.Trace.Steps) {
		if st.Step <= r.v.Step && st.At <= at && st.Choice.Op.Kind == sim.Write && st.Choice.Op.Actor.Kind() != operator {
			return st
		}
	}
	return nil
}

// failed returns the first write of a call that was not executed, and after which the call
// wrote nothing to the same object successfully.
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
