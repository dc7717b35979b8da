package cause

import (
	"slices"

	"ipamsim/model"
	"ipamsim/sim"
)

// Whose is whose row of the record a process wrote.
type Whose string

// Whose a row may be. "" is that of the pod which the process works for or, for processes
// that work for none, of a pod that is not deleted, or of none.
const (
	Another     Whose = "another pod's"
	Terminating Whose = "of a terminating pod" // until its grace period is over
	Deleted     Whose = "of a deleted pod"     // or evicted from a node that is not ready; its sandbox may be there
)

// whose says of a change of a claim or reservation whose it was when st made it.
func (r *run) whose(c *model.Change, st *sim.Step) Whose {
	pods := only(c.Refs, model.RefPod)
	if len(pods) == 0 || c.Row != model.RefAddress && c.Row != model.RefReservation {
		return ""
	}
	if pod, ok := r.worksFor(string(st.Choice.Op.Actor), st.Step); ok {
		if slices.ContainsFunc(pods, func(o model.Ref) bool { return o != pod }) {
			return Another
		}
		return ""
	}
	if c.Row == model.RefReservation {
		return "" // it is for an address, and passes of reconcilers match addresses
	}
	since := r.addOf(only(c.Refs, model.RefContainer))
	for _, pod := range pods {
		if w := r.deleted(pod, since, st.Step); w != "" {
			return w
		}
	}
	return ""
}

// addOf is the step after which the ADD of a container began, the first of several, for each
// network has one; -1 if none is known. Its pod's namesakes are others.
func (r *run) addOf(containers []model.Ref) int {
	for i := range r.rep.History.Events {
		e := &r.rep.History.Events[i]
		if e.Kind == model.AddBegin && slices.Contains(containers, model.Ref{Kind: model.RefContainer, Name: e.Container}) {
			return e.Step
		}
	}
	return -1
}

// worksFor is the pod for which a process is a CNI call.
func (r *run) worksFor(actor string, step int) (pod model.Ref, ok bool) {
	for i := range r.rep.History.Events {
		e := &r.rep.History.Events[i]
		if e.Step > step {
			break
		}
		if e.Actor == actor && (e.Kind == model.AddBegin || e.Kind == model.DelBegin) {
			pod, ok = model.PodOf(e.Pod), true
		}
	}
	return pod, ok
}

// deleted says how far a pod was deleted before a step: after the step at which it had its
// container or, if that is -1 for unknown, so that it had not been recreated. "" is not at all.
func (r *run) deleted(pod model.Ref, since, step int) Whose {
	steps, again := r.rep.Trace.Steps, false
	for i := len(steps) - 1; i >= 0 && steps[i].Step > since; i-- {
		op := steps[i].Choice.Op
		if steps[i].Step >= step || op.Kind != sim.Write || op.Request == nil || op.Request.Resource != "pods" ||
			op.Request.Subresource != "" && op.Request.Subresource != eviction || pod.Name != op.Request.Namespace+"/"+op.Request.Name || !done(steps[i].Choice.Outcome) {
			continue
		}
		switch evicted := op.Request.Subresource == eviction; {
		case op.Request.Verb == "POST" && !evicted:
			if since < 0 {
				return ""
			}
			again = true
		case op.Request.Verb == "DELETE", evicted:
			if again {
				return Deleted
			}
			return r.deletion(steps[i])
		}
	}
	return ""
}

// eviction is the subresource by which a drain has a pod deleted.
const eviction = "eviction"

// deletion is what a request to delete a pod came to. The kubelet asks last, when the
// containers have ended; forced deletion and eviction do not wait for that.
func (r *run) deletion(st *sim.Step) Whose {
	if r.rep.Did(st).Unconfirmed {
		return Deleted
	}
	return Terminating
}

// operatorWrite is the operator's last own write to the record that the violation is about, nil
// if there is none. Writes by the address manager's tools are the manager's. Nodes come and
// go, even if the record is a field of theirs, and lose power with what is not on disk yet:
// that is no operator's write either.
func (r *run) operatorWrite() *Link {
	of := things(r.rep.Ledger, r.v)
	var blocks []model.Ref // a handle counts each for itself
	if rules[r.v.Invariant].Identity.Counts {
		blocks = only(r.v.Objects, model.RefBlock)
	}
	var out Link
	i := r.rep.Ledger.LastOf(r.v.Step, func(c *model.Change) bool {
		st := stepOf(r.rep.Trace, c.Step)
		if st == nil || st.Choice.Op.Actor.Kind() != operator || befell(st.Choice.Op.Request) || !concerns(rules[r.v.Invariant], c.Row) || !c.Names(of...) || len(blocks) > 0 && !r.recounts(c, blocks[0]) {
			return false
		}
		out = r.link(Wrote, st)
		return len(out.Functions) == 0
	})
	if i < 0 {
		return nil
	}
	return &out
}

// befell reports whether a message of an operator's is about nodes, or draws what becomes
// of one, or is about what comes and goes in every cluster: a Service, of a manager whose
// record are their status.
func befell(q *sim.Request) bool {
	return q != nil && (q.Resource == "nodes" || q.Verb == "DRAW" || model.EverydayResource(q.Resource))
}
