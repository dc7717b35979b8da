package cause

import (
	"slices"

	"ipamsim/model"
	"ipamsim/model/act"
	"ipamsim/sim"
)

// Saw is the state of the claim's pod in the list with which a reconciler's pass began that then
// removed the claim.
type Saw string

// The states. "" means that the pass listed no pods, or that it is not known by what its
// manager judges pods.
const (
	SawNone   Saw = "absent"           // the list did not contain the pod
	SawIt     Saw = "reported"         // the pod's status had the address
	SawOver   Saw = "over"             // the status did not have the address, and the pod was no longer Pending
	SawBare   Saw = "unreported"       // the status did not have the address, and the pass read the pod again by name
	SawListed Saw = "unreported, once" // the status did not have the address, and the pass did not read the pod again
)

var sawTexts = map[Saw]string{
	SawNone:   "; there was no such pod when it listed them",
	SawIt:     "; the pod reported the address when it listed them",
	SawOver:   "; the pod did not report the address when it listed them, and was not Pending any more",
	SawBare:   "; the pod did not report the address yet when it listed them",
	SawListed: "; the pod did not report the address yet when it listed them, and it did not look again",
}

// saw returns the state of the pod that the pass of st acted on when it removed a claim. It is
// "" for a process that watches pods: the start of its pass says nothing of what it knows.
func (r *run) saw(c *model.Change, st *sim.Step) Saw {
	pods, again := only(c.Refs, model.RefPod), false
	if c.Row != model.RefAddress || !c.Gone || len(pods) != 1 {
		return ""
	}
	for _, o := range slices.Backward(r.rep.Trace.Steps) {
		op, by := o.Choice.Op, st.Choice.Op
		if o.Step >= st.Step || op.Actor != by.Actor || op.Incarnation != by.Incarnation || op.Request == nil || op.Request.Resource != "pods" {
			continue
		}
		if op.Kind == sim.Event {
			return ""
		}
		if op.Request.Name != "" { // not a list
			again = again || op.Request.Namespace+"/"+op.Request.Name == pods[0].Name
			continue
		}
		if a := r.rep.Did(o); op.Kind == sim.Read && a.Verb == act.List && a.Thing.Kind == act.Pod && a.Outcome == act.Done {
			i := slices.IndexFunc(a.Thing.Parts, func(t act.Thing) bool { return t.Name == pods[0].Name })
			if i < 0 {
				return SawNone
			}
			return sawOf(&a.Thing.Parts[i], addresses(c.Refs), again)
		}
	}
	return ""
}

// sawOf returns the state of a listed pod with respect to the addresses.
func sawOf(pod *act.Thing, addrs []model.Ref, again bool) Saw {
	status := pod.Part(act.NetworkStatus)
	switch {
	case status != nil && slices.ContainsFunc(status.Parts, func(t act.Thing) bool {
		return slices.ContainsFunc(addrs, func(a model.Ref) bool { return a.Name == t.Name })
	}):
		return SawIt
	case pod.State != "Pending":
		return SawOver
	case again:
		return SawBare
	}
	return SawListed
}
