// Package touches records what the steps of a run change that invariants depend on.
package touches

import (
	"slices"

	"ipamsim/model"
	"ipamsim/reports"
	"ipamsim/sim"
	"ipamsim/sim/por"
)

// touches collects the things that each step changes and that invariants depend on: see
// por.Step.Touches. An invariant that holds at any time is about one pod, its containers and addresses,
// their claims, and what these were joined with. A step that affects invariants about more than that
// touches the whole.
type touches struct {
	log   *por.Log
	whole bool // invariants depend on everything together
	short bool // invariants depend on the number of free addresses
}

// Note adds to a log what the steps of its run changed.
func Note(l *por.Log, rep *reports.Report) {
	t := &touches{log: l}
	for i := range rep.Ledger.Changes {
		// Invariants about blocks depend on their number and on empty ones, those about handles on counts.
		t.whole = t.whole || rep.Ledger.Changes[i].Row == model.RefBlock || rep.Ledger.Changes[i].Row == model.RefHandle
	}
	for i := range rep.History.Events {
		// A failed call is checked against the lowest number of free addresses during it. If another pod
		// releases an address and a third claims one, that number is higher if the release comes first.
		e := &rep.History.Events[i]
		t.short = t.short || e.Kind == model.AddEnd && e.Err != ""
	}
	for _, st := range rep.Trace.Steps {
		if policy(st) {
			t.add(st.Step, por.Whole)
		}
	}
	for i := range rep.Ledger.Changes {
		t.recorded(&rep.Ledger.Changes[i])
	}
	for i := range rep.History.Events {
		e := &rep.History.Events[i]
		if t.add(e.Step, happened(e)...); e.Step > 0 && e.Step <= len(l.Steps) {
			l.Steps[e.Step-1].Counts = true
		}
	}
	for _, x := range rep.Touched {
		t.add(x.Step, x.Ref.String())
	}
	for i := range rep.Violations {
		t.add(rep.Violations[i].Step, named(rep.Violations[i].Objects)...)
	}
}

// add adds things to a step; before the first step, they are joined from the start.
func (t *touches) add(step int, things ...string) {
	switch {
	case len(things) == 0 || step > len(t.log.Steps):
	case step <= 0:
		t.log.Joined = append(t.log.Joined, things)
	default:
		if t.whole {
			things = []string{por.Whole}
		}
		s := &t.log.Steps[step-1]
		for _, x := range things {
			if !slices.Contains(s.Touches, x) {
				s.Touches = append(s.Touches, x)
			}
		}
	}
}

// recorded adds a change of a row of the record. A pool affects all pods.
func (t *touches) recorded(c *model.Change) {
	if t.add(c.Step, named(c.Refs)...); t.short || c.Row == model.RefPool {
		t.add(c.Step, por.Whole)
	}
}

// policy reports whether a step writes an object that decides about several pods: which addresses they
// may have, and which are in use elsewhere. Such objects are not rows of the record.
func policy(st *sim.Step) bool {
	op := &st.Choice.Op
	return op.Kind == sim.Write && op.Request != nil && st.Choice.Outcome != sim.FailBefore && slices.Contains(policies, op.Request.Resource)
}

var policies = []string{"ipaddresses", "namespaces", "network-attachment-definitions", "nodes", "servicecidrs", "services"}

// happened returns the things that an event is about. Invariants about passes are checked at rest only,
// and none is about the output of commands.
func happened(e *model.Event) (out []string) {
	switch e.Kind {
	case model.Reconcile, model.Reconciled, model.Exited, model.Output:
		return nil
	case model.NodeEvent, model.ActorPanic, model.Operator, model.FaultEvent:
		return []string{por.Whole}
	}
	if e.Err != "" {
		out = append(out, por.Whole)
	}
	if e.Pod != (model.PodRef{}) {
		out = append(out, model.PodOf(e.Pod).String())
	}
	if e.Container != "" {
		out = append(out, model.Ref{Kind: model.RefContainer, Name: e.Container}.String())
	}
	for _, a := range e.Addrs {
		out = append(out, model.AddressOf(a).String())
	}
	return out
}

// named returns the things that identify the pod. Pools, networks and nodes do not.
func named(refs []model.Ref) (out []string) {
	for _, r := range refs {
		switch r.Kind {
		case model.RefPod, model.RefContainer, model.RefAddress, model.RefReservation:
			out = append(out, r.String())
		}
	}
	if len(out) == 0 {
		return []string{por.Whole}
	}
	return out
}
