package cause

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"ipamsim/model"
	"ipamsim/model/invariant"
	"ipamsim/sim"
)

// What stays though its pod is gone: nobody wrote anything wrong, somebody did not take
// it away. The story is how the life of its sandbox ended, and what the passes of the
// reconcilers did that came after.

// stays is nil for what no sandbox had, and for what is not there.
func (r *run) stays() []Link {
	if e := r.call(); e != nil && e.Kind == model.DelEnd {
		return []Link{r.end(e, e.Step)}
	} else if e != nil {
		return r.handed(e)
	}
	if r.v.Invariant == invariant.LeftoverHandle.Name && r.v.Code == invariant.CountedTooMany {
		// Of what it counts, some is claimed: nobody had to take it away, it was counted
		// too often.
		return nil
	}
	l := r.rep.Ledger
	refs, rows := addresses(r.v.Objects), []model.RefKind{model.RefAddress}
	if handles := only(r.v.Objects, model.RefHandle); len(handles) > 0 {
		refs, rows = handles, nil
	}
	at, reserved := r.lastOfIt(refs, rows), -1
	if r.v.Invariant == invariant.LeftoverReservation.Name {
		if reserved = l.Last(r.v.Step, refs, model.RefReservation); at < 0 {
			return nil // whom it is for never had the address
		}
	}
	containers := only(r.v.Objects, model.RefContainer)
	if at >= 0 && len(containers) == 0 {
		containers = only(l.Changes[at].Refs, model.RefContainer)
	}
	if r.v.Invariant != invariant.Stuck.Name && at >= 0 && l.Changes[at].Gone && reserved < 0 {
		return nil
	}
	if len(containers) == 0 {
		if containers = r.whoHad(refs, at); len(containers) == 0 {
			return nil
		}
	}
	end, step := r.lastCall(containers)
	if end == nil {
		return nil
	}
	if end.Role == Crashed {
		return []Link{*end}
	}
	if reserved >= 0 {
		at = reserved
	}
	if at >= 0 && l.Changes[at].Step > step && step > 0 && r.written(at) { // it came back
		return r.by(r.overcounted(at), refs)
	}
	return append([]Link{*end}, r.passes(step)...)
}

// lastOfIt is the last change of what stays: of the claim in the pool that the violation
// names, for nodes may have the same addresses; and of a reservation, of the claim of whom
// it is for, which is what a DEL has to take away besides.
func (r *run) lastOfIt(refs []model.Ref, rows []model.RefKind) int {
	if r.v.Invariant != invariant.LeftoverReservation.Name {
		return r.lastInPool(refs, rows)
	}
	return r.rep.Ledger.LastOfBoth(r.v.Step, refs, only(r.v.Objects, model.RefPod), rows...)
}

// lastInPool is the last change, in the pool that the violation names if there is any.
func (r *run) lastInPool(refs []model.Ref, rows []model.RefKind) int {
	if i := r.rep.Ledger.LastOfBoth(r.v.Step, refs, only(r.v.Objects, model.RefPool), rows...); i >= 0 {
		return i
	}
	return r.rep.Ledger.Last(r.v.Step, refs, rows...)
}

// whoHad is who had what stays when nothing says so any more, of which at is the last
// change: what a machine lost with its power says no more whose it is.
func (r *run) whoHad(refs []model.Ref, at int) []model.Ref {
	l, pools := r.rep.Ledger, only(r.v.Objects, model.RefPool)
	if at >= 0 && len(pools) > 0 {
		if r.written(at) {
			return nil
		}
		at = l.LastOf(r.v.Step, func(c *model.Change) bool {
			return c.Names(refs...) && c.Names(pools...) && len(only(c.Refs, model.RefContainer)) > 0
		})
	} else {
		at = l.Last(r.v.Step, refs)
	}
	if at < 0 {
		return nil
	}
	return only(l.Changes[at].Refs, model.RefContainer)
}

// written reports whether the message after which the i-th change was seen made it: what a
// machine loses with its power is seen after the next message, whatever that is about.
func (r *run) written(i int) bool {
	c := &r.rep.Ledger.Changes[i]
	first := slices.IndexFunc(r.rep.Ledger.Changes, func(o model.Change) bool { return o.Row == c.Row && o.Came && o.Step > 0 && o.Names(c.Refs...) })
	st := stepOf(r.rep.Trace, c.Step)
	if first < 0 || st == nil || st.Choice.Op.Request == nil {
		return true // nobody knows
	}
	by := stepOf(r.rep.Trace, r.rep.Ledger.Changes[first].Step)
	return st.Choice.Op.Kind == sim.Write && !befell(st.Choice.Op.Request) && (by == nil || by.Choice.Op.Request == nil || by.Choice.Op.Request.Resource == st.Choice.Op.Request.Resource)
}

// made is the process that made what stays and does not say for whom, "" if nobody knows.
func (r *run) made() string {
	if len(addresses(r.v.Objects)) == 0 || len(only(r.v.Objects, model.RefPool)) == 0 || len(only(r.v.Objects, model.RefContainer)) > 0 {
		return ""
	}
	i := r.lastInPool(addresses(r.v.Objects), []model.RefKind{model.RefAddress})
	if i < 0 || !r.rep.Ledger.Changes[i].Came || !r.written(i) {
		return ""
	}
	if st := stepOf(r.rep.Trace, r.rep.Ledger.Changes[i].Step); st != nil {
		return string(st.Choice.Op.Actor)
	}
	return ""
}

// overcounted is, of a handle that counts too many, the change since which it does, and not
// that by which it came to count what it counts at the end. Else it is the i-th.
func (r *run) overcounted(i int) int {
	handles, blocks := only(r.v.Objects, model.RefHandle), only(r.v.Objects, model.RefBlock)
	if !rules[r.v.Invariant].Identity.Counts || len(handles) != 1 || len(blocks) != 1 {
		return i
	}
	if j := r.rep.Ledger.Overcounted(r.callEnd(), handles[0], blocks[0]); j >= 0 {
		return j
	}
	return i
}

// call is the call of which the violation says that it left something, nil if it says
// nothing such.
func (r *run) call() *model.Event {
	if !rules[r.v.Invariant].NamesCall {
		return nil
	}
	at, ok := model.FactOf[time.Duration](r.v.Facts, "at")
	for i := r.v.To - 1; i >= 0 && ok; i-- {
		e := &r.rep.History.Events[i]
		if (e.Kind == model.AddEnd || e.Kind == model.DelEnd) && e.Err == "" && e.At == at && slices.Contains(r.v.Objects, model.PodOf(e.Pod)) {
			return e
		}
	}
	return nil
}

// ended says how a call ended, or that it did not.
func ended(e *model.Event) string {
	switch {
	case e.Kind == model.AddBegin:
		return "ADD did not end"
	case e.Kind == model.DelBegin:
		return "DEL did not end"
	case e.Kind == model.AddEnd && e.Err == "":
		return "no DEL"
	case e.Kind == model.AddEnd:
		return "ADD failed"
	case e.Err != "":
		return "DEL failed"
	}
	return delEnded
}

// delEnded is how a call ended that had to take away what stays.
const delEnded = "DEL ended"

// passEnded is how a pass ended that had a look at everything.
const passEnded = "ended"

// lastCall is how the last call for one of the containers ended, nil if there was none, and
// after which step.
func (r *run) lastCall(containers []model.Ref) (l *Link, step int) {
	var last *model.Event
	iface := r.attached()
	for i := range r.rep.History.Events[:r.v.To] {
		e := &r.rep.History.Events[i]
		switch e.Kind {
		case model.AddBegin, model.AddEnd, model.DelBegin, model.DelEnd:
			if e.Interface != "" && iface != "" && e.Interface != iface {
				continue // another manager's call, or for another address
			}
			if r.v.Code == invariant.DeleteFails && (e.Kind != model.DelEnd || e.Err == "") && r.panicked(e.Actor) == nil {
				continue // it has not failed
			}
			if slices.Contains(containers, model.Ref{Kind: model.RefContainer, Name: e.Container}) {
				last = e
			}
		}
	}
	if last == nil {
		return nil, 0
	}
	if last.Kind == model.AddEnd && last.Err == "" {
		return &Link{Role: Ended, Outcome: ended(last), Step: last.Step}, last.Step
	}
	until := last.Step
	if last.Kind == model.AddBegin || last.Kind == model.DelBegin {
		until = r.v.Step
	}
	if crash := r.panicked(last.Actor); crash != nil {
		return crash, max(crash.Step, last.Step)
	}
	out := r.end(last, until)
	return &out, max(out.Step, last.Step)
}

// attached is the interface of the ADD that claimed what stays, "" if nothing says it.
func (r *run) attached() string {
	refs := addresses(r.v.Objects)
	if len(refs) == 0 {
		return ""
	}
	i := r.lastInPool(refs, []model.RefKind{model.RefAddress})
	if i < 0 || !r.rep.Ledger.Changes[i].Came {
		return ""
	}
	st := stepOf(r.rep.Trace, r.rep.Ledger.Changes[i].Step)
	if st == nil {
		return ""
	}
	for j := range r.rep.History.Events[:r.v.To] {
		if e := &r.rep.History.Events[j]; e.Actor == string(st.Choice.Op.Actor) && e.Interface != "" {
			return e.Interface
		}
	}
	return ""
}

// end is how a call ended, or did not, and its last message up to a step. One that ended
// well may have done so in spite of an error: the answer to what it asked last, be it of a
// leader's election, or what kept it from any look at what holds the claim.
func (r *run) end(e *model.Event, step int) Link {
	l := r.lastOf(Ended, e.Actor, step)
	if l.Outcome = ended(e); l.Outcome != delEnded {
		return l
	}
	last := r.lastStep(e.Actor, step)
	if last != nil && last.Choice.Outcome.Fault() || r.erred(stepOf(r.rep.Trace, l.Step)) || !r.looked(e.Actor, step) {
		l.Manner = inSpite
	}
	return l
}

// looked reports whether a process had a look, up to a step, at an object of the kind that
// holds the claim of the violation.
func (r *run) looked(actor string, step int) bool {
	resource := r.holds()
	return resource == "" || r.asked(func(st *sim.Step) bool {
		op := st.Choice.Op
		return st.Step <= step && string(op.Actor) == actor && op.Request.Resource == resource && op.Request.Name != "" && done(st.Choice.Outcome)
	})
}

// holds is the resource of the objects that hold the claim of the violation, "" if it is not known.
func (r *run) holds() string {
	i := r.rep.Ledger.LastOf(r.v.Step, func(c *model.Change) bool {
		return c.Row == model.RefAddress && c.Came && c.Names(addresses(r.v.Objects)...)
	})
	if i < 0 {
		return ""
	}
	if st := stepOf(r.rep.Trace, r.rep.Ledger.Changes[i].Step); st != nil && st.Choice.Op.Request != nil {
		return st.Choice.Op.Request.Resource
	}
	return ""
}

// asked reports whether such a request was sent.
func (r *run) asked(such func(*sim.Step) bool) bool {
	return slices.ContainsFunc(r.rep.Trace.Steps, func(st *sim.Step) bool { return st.Choice.Op.Request != nil && such(st) })
}

// lastStep is the last message that a process sent up to a step, nil if it sent none.
func (r *run) lastStep(actor string, step int) *sim.Step {
	for _, st := range slices.Backward(r.rep.Trace.Steps) {
		if op := st.Choice.Op; st.Step <= step && string(op.Actor) == actor && op.Kind != sim.Local {
			return st
		}
	}
	return nil
}

// passes are the last ones that reconcilers ended after a step, one for each kind. One of
// a process that claims addresses itself is for these; one that never asks for the kind
// of object that holds the claim is another manager's.
func (r *run) passes(after int) (out []Link) {
	last := map[string]*model.Event{}
	for i := range r.rep.History.Events[:r.v.To] {
		if e := &r.rep.History.Events[i]; e.Kind == model.Reconciled && e.Step > after && !r.claims(sim.ActorID(e.Actor).Kind()) {
			last[sim.ActorID(e.Actor).Kind()] = e
		}
	}
	if resource := r.holds(); resource != "" {
		maps.DeleteFunc(last, func(kind string, _ *model.Event) bool {
			return !r.asked(func(st *sim.Step) bool {
				return st.Choice.Op.Actor.Kind() == kind && st.Choice.Op.Request.Resource == resource
			})
		})
	}
	for _, e := range last {
		l := Link{Role: Passed, Process: sim.ActorID(e.Actor).Kind(), Outcome: passEnded, Step: e.Step}
		if e.Err != "" {
			l = r.lastOf(Passed, e.Actor, e.Step)
			l.Outcome = "failed"
		}
		out = append(out, l)
	}
	slices.SortFunc(out, func(a, b Link) int { return cmp.Compare(a.Process, b.Process) })
	return out
}

// claims reports whether processes of a kind have claimed addresses.
func (r *run) claims(process string) bool {
	return r.rep.Ledger.LastOf(r.v.Step, func(c *model.Change) bool {
		st := stepOf(r.rep.Trace, c.Step)
		return c.Row == model.RefAddress && c.Came && st != nil && st.Choice.Op.Actor.Kind() == process
	}) >= 0
}
