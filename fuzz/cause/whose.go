package cause

import (
	"slices"

	"ipamsim/model"
	"ipamsim/sim"
)

// Whose is the owner of the row of the record that a process wrote.
type Whose string

// The owners. "" is the pod for which the process works or, for processes that work for no
// pod, a pod that is not deleted, or no pod.
const (
	Another     Whose = "another pod's"
	Terminating Whose = "of a terminating pod" // within its grace period
	Deleted     Whose = "of a deleted pod"     // or evicted from a node that is not ready; its sandbox may still exist
)

// whose returns the owner, at step st, of the claim or reservation that st changed.
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
		return "" // reservations are for addresses, and reconcilers match addresses
	}
	since := r.addOf(only(c.Refs, model.RefContainer))
	for _, pod := range pods {
		if w := r.deleted(pod, since, st.Step); w != "" {
			return w
		}
	}
	return ""
}

// addOf returns the step after which the ADD of a container began (the first ADD, for each
// network has one), -1 if it is not known. Containers distinguish pods with the same name.
func (r *run) addOf(containers []model.Ref) int {
	for i := range r.rep.History.Events {
		e := &r.rep.History.Events[i]
		if e.Kind == model.AddBegin && slices.Contains(containers, model.Ref{Kind: model.RefContainer, Name: e.Container}) {
			return e.Step
		}
	}
	return -1
}

// worksFor returns the pod of the CNI call that a process executes.
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

// deleted returns the state of a pod's deletion before a step. since is the step at which the
// pod got its container, or -1 if that is unknown: then a pod that was recreated counts as not
// deleted. "" means not deleted.
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

// eviction is the subresource with which a drain deletes a pod.
const eviction = "eviction"

// deletion returns the effect of a request to delete a pod. The kubelet's request comes last,
// after the containers have terminated; a forced deletion and an eviction do not wait for that.
func (r *run) deletion(st *sim.Step) Whose {
	if r.rep.Did(st).Unconfirmed {
		return Deleted
	}
	return Terminating
}

// operatorWrite returns the operator's last own write to the violation's objects in the record,
// nil if there is none. Writes by the address manager's tools count as the manager's. Changes of
// nodes are no such writes, even if the record is part of the Node: nodes come and go, and lose
// power with data that was not yet on disk.
func (r *run) operatorWrite() *Link {
	of := things(r.rep.Ledger, r.v)
	var blocks []model.Ref // a handle counts per block
	if rules[r.v.Invariant].Identity.Counts {
		blocks = only(r.v.Objects, model.RefBlock)
	}
	var out Link
	i := r.rep.Ledger.LastOf(r.v.Step, func(c *model.Change) bool {
		st := stepOf(r.rep.Trace, c.Step)
		if st == nil || st.Choice.Op.Actor.Kind() != operator || ordinary(st.Choice.Op.Request) || !concerns(rules[r.v.Invariant], c.Row) || !c.Names(of...) || len(blocks) > 0 && !r.recounts(c, blocks[0]) {
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

// ordinary reports whether an operator's message is an ordinary change of the cluster, not an
// edit of the record: about a node, about the random outcome of a node's failure (DRAW), or
// about everyday resources such as Services, if the manager's record is in their status.
func ordinary(q *sim.Request) bool {
	return q != nil && (q.Resource == "nodes" || q.Verb == "DRAW" || model.EverydayResource(q.Resource))
}
