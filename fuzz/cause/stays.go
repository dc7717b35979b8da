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

// Violations in which something remains although its pod is gone. No write was wrong; a write
// is missing. The chain is how the last call for the sandbox ended, and what later passes of
// reconcilers did.

// stays returns that chain. It is nil for objects that no sandbox had, and for objects that
// are missing from the record.

func (r *run) stays() []Link {
	if e := r.call(); e != nil && e.Kind == model.DelEnd {
		return []Link{r.end(e, e.Step)}
	} else if e != nil {
		return r.handed(e)
	}
	if r.v.Invariant == invariant.LeftoverHandle.Name && r.v.Code == invariant.CountedTooMany {
		// Some of the counted addresses are claimed: the handle was not left over, it was
		// counted up too often.
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
			return nil // the owner of the reservation never had the address
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
		if containers = r.formerContainers(refs, at); len(containers) == 0 {
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
	if at >= 0 && l.Changes[at].Step > step && step > 0 && r.written(at) { // it was created again after the call
		return r.by(r.overcounted(at), refs)
	}
	return append([]Link{*end}, r.passes(step)...)
}

// lastOfIt returns the last change of what remains: of the claim in the pool that the violation
// names, because nodes may use the same addresses; for a reservation, of the claim of the
// reservation's owner, which its DEL has to remove, too.
func (r *run) lastOfIt(refs []model.Ref, rows []model.RefKind) int {
	if r.v.Invariant != invariant.LeftoverReservation.Name {
		return r.lastInPool(refs, rows)
	}
	return r.rep.Ledger.LastOfBoth(r.v.Step, refs, only(r.v.Objects, model.RefPod), rows...)
}

// lastInPool returns the last change in the pool that the violation names, if it names one.
func (r *run) lastInPool(refs []model.Ref, rows []model.RefKind) int {
	if i := r.rep.Ledger.LastOfBoth(r.v.Step, refs, only(r.v.Objects, model.RefPool), rows...); i >= 0 {
		return i
	}
	return r.rep.Ledger.Last(r.v.Step, refs, rows...)
}

// formerContainers returns the containers that had the object, whose last change is at,
// from earlier changes. A machine that lost power may have lost the data that named them.
func (r *run) formerContainers(refs []model.Ref, at int) []model.Ref {
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

// written reports whether the message before the i-th change made it. What a machine loses with
// its power appears as a change after the next message, whatever that message is about.
func (r *run) written(i int) bool {
	c := &r.rep.Ledger.Changes[i]
	first := slices.IndexFunc(r.rep.Ledger.Changes, func(o model.Change) bool { return o.Row == c.Row && o.Came && o.Step > 0 && o.Names(c.Refs...) })
	st := stepOf(r.rep.Trace, c.Step)
	if first < 0 || st == nil || st.Choice.Op.Request == nil {
		return true // unknown
	}
	by := stepOf(r.rep.Trace, r.rep.Ledger.Changes[first].Step)
	return st.Choice.Op.Kind == sim.Write && !ordinary(st.Choice.Op.Request) && (by == nil || by.Choice.Op.Request == nil || by.Choice.Op.Request.Resource == st.Choice.Op.Request.Resource)
}

// made returns the process that created the object, if the object names no container, otherwise "".
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

// overcounted returns, for a handle that counts too many addresses, the change since which it
// does: the last change of the count may be a correct one. For other objects it returns i.
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

// call returns the call that the violation names as having left something, nil if it names none.
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

// ended returns how a call ended, or that it did not.
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

// delEnded is the outcome of a successful DEL, which should have removed the object.
const delEnded = "DEL ended"

// passEnded is the outcome of a complete pass.
const passEnded = "ended"

// lastCall returns how the last call for one of the containers ended, and after which step. It
// is nil if there was no call.
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
				continue // it did not fail
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

// attached returns the interface of the ADD that claimed the address, "" if it is not known.
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

// end returns how a call ended, or that it did not, with its last message up to a step. Its
// manner is ignoredError if the call succeeded although its last request failed (also one for
// leader election), or an error kept it from reading the object that holds the claim.
func (r *run) end(e *model.Event, step int) Link {
	l := r.lastOf(Ended, e.Actor, step)
	if l.Outcome = ended(e); l.Outcome != delEnded {
		return l
	}
	last := r.lastStep(e.Actor, step)
	if last != nil && last.Choice.Outcome.Fault() || r.erred(stepOf(r.rep.Trace, l.Step)) || !r.readHolder(e.Actor, step) {
		l.Manner = ignoredError
	}
	return l
}

// readHolder reports whether a process read, up to a step, an object of the kind that holds the
// violation's claim.
func (r *run) readHolder(actor string, step int) bool {
	resource := r.holds()
	return resource == "" || r.asked(func(st *sim.Step) bool {
		op := st.Choice.Op
		return st.Step <= step && string(op.Actor) == actor && op.Request.Resource == resource && op.Request.Name != "" && done(st.Choice.Outcome)
	})
}

// holds returns the resource that holds the violation's claim, "" if it is not known.
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

// lastStep returns the last message that a process sent up to a step, nil if it sent none.
func (r *run) lastStep(actor string, step int) *sim.Step {
	for _, st := range slices.Backward(r.rep.Trace.Steps) {
		if op := st.Choice.Op; st.Step <= step && string(op.Actor) == actor && op.Kind != sim.Local {
			return st
		}
	}
	return nil
}

// passes returns the last pass that each kind of reconciler ended after a step. It leaves out
// processes that claim addresses, because their passes handle only their own, and processes
// that never access the resource that holds the claim, because they are another manager's.
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

// claims reports whether a process of the given kind has claimed an address.
func (r *run) claims(process string) bool {
	return r.rep.Ledger.LastOf(r.v.Step, func(c *model.Change) bool {
		st := stepOf(r.rep.Trace, c.Step)
		return c.Row == model.RefAddress && c.Came && st != nil && st.Choice.Op.Actor.Kind() == process
	}) >= 0
}
