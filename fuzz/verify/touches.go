package verify

import (
	"ipamsim/model"
	"ipamsim/sim"
	"ipamsim/sim/por"
)

// What a step changes of what invariants look at. Two steps that touch different pods and
// addresses, and no third step brought these together in any run, are judged apart: an
// invariant is about a pod, its sandboxes and addresses, and their claims. What concerns
// more than that concerns everything.

// stored: pods and nodes are judged.
func stored(st *sim.Step) []string {
	op := st.Choice.Op
	if op.Kind != sim.Write || op.Request == nil || st.Choice.Outcome == sim.FailBefore {
		return nil
	}
	switch op.Request.Resource {
	case "pods":
		return []string{thing(model.RefPod, op.Request.Namespace+"/"+op.Request.Name)}
	case "nodes":
		return []string{por.Whole}
	}
	return nil
}

// recorded is what a row of the record is about. Where pools and affinities change, more
// than that is judged by them.
func recorded(c *model.Change) []string {
	if c.Row != model.RefAddress && c.Row != model.RefReservation && c.Row != model.RefHandle {
		return []string{por.Whole}
	}
	return named(c.Refs)
}

// happened is whom an event is about. Passes are judged at rest only; a call that fails is
// judged by what was free meanwhile.
func happened(e *model.Event) (out []string) {
	switch e.Kind {
	case model.Reconcile, model.Reconciled, model.Output, model.Operator, model.FaultEvent:
		return nil // what they change is told by the step itself
	case model.NodeEvent, model.ActorPanic:
		return []string{por.Whole}
	}
	if e.Err != "" {
		out = append(out, por.Whole)
	}
	if e.Pod != (model.PodRef{}) {
		out = append(out, thing(model.RefPod, e.Pod.String()))
	}
	if e.Container != "" {
		out = append(out, thing(model.RefContainer, e.Container))
	}
	for _, a := range e.Addrs {
		out = append(out, thing(model.RefAddress, a.String()))
	}
	return out
}

// named are the things that tell who is meant: not in which pool or network, or on which
// node.
func named(refs []model.Ref) (out []string) {
	for _, r := range refs {
		switch r.Kind {
		case model.RefPool, model.RefNetwork, model.RefNode, model.RefRange, model.RefActor:
		default:
			out = append(out, thing(r.Kind, r.Name))
		}
	}
	if len(out) == 0 {
		return []string{por.Whole}
	}
	return out
}

func thing(kind model.RefKind, name string) string { return string(kind) + " " + name }
