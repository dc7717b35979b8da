// Package touches notes what the steps of a run change of what invariants look at.
package touches

import (
	"slices"

	"ipamsim/model"
	"ipamsim/reports"
	"ipamsim/sim"
	"ipamsim/sim/por"
)

// What a step changes of what invariants look at, as things: see por.Step.Touches. An
// invariant that holds always is about one pod, its containers and addresses, their claims, and
// what these were joined with. What is judged by more than that touches the whole.
type touches struct {
	log   *por.Log
	whole bool // nothing is judged apart
	short bool // how many addresses are free is judged
}

// Note notes in a log what the steps of its run changed.
func Note(l *por.Log, rep *reports.Report) {
	t := &touches{log: l}
	for i := range rep.Ledger.Changes {
		// Blocks are judged by their number and by what is empty, handles by what they count.
		t.whole = t.whole || rep.Ledger.Changes[i].Row == model.RefBlock || rep.Ledger.Changes[i].Row == model.RefHandle
	}
	for i := range rep.History.Events {
		// A call that fails is judged by the least that was free at any time during it: of a
		// release and an ADD of two strangers, that is one more if the release goes first.
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

// add things to what a step touches; before the first, they are joined from the start.
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

// recorded is a row of the record. A pool is everybody's.
func (t *touches) recorded(c *model.Change) {
	if t.add(c.Step, named(c.Refs)...); t.short || c.Row == model.RefPool {
		t.add(c.Step, por.Whole)
	}
}

// policy reports whether a step writes what decides on more than one pod: who may have
// which addresses, and who else has one. What it decides is in no row of the record.
func policy(st *sim.Step) bool {
	op := &st.Choice.Op
	return op.Kind == sim.Write && op.Request != nil && st.Choice.Outcome != sim.FailBefore && slices.Contains(policies, op.Request.Resource)
}

var policies = []string{"ipaddresses", "namespaces", "network-attachment-definitions", "nodes", "servicecidrs", "services"}

// happened is whom an event is about. Passes are judged at rest only, and what commands print
// is not; in the end they count.
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

// named are the things that tell who is meant: not in which pool or network, or on which
// node.
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
