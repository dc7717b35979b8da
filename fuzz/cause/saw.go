package cause

import (
	"slices"

	"ipamsim/model"
	"ipamsim/model/act"
	"ipamsim/sim"
)

// Saw is what a pass of a reconciler that takes a claim away had found of the pod that the
// claim is for, when it began: what it judged it by.
type Saw string

// What it may have seen. "" is that it listed no pods, or that its manager does not say what
// it judges pods by.
const (
	SawNone   Saw = "absent"           // there was no such pod
	SawIt     Saw = "reported"         // the pod reported the address
	SawOver   Saw = "over"             // it did not, and was not Pending any more
	SawBare   Saw = "unreported"       // it did not, and was asked for again by its name
	SawListed Saw = "unreported, once" // it did not, and nobody asked again
)

var sights = map[Saw]string{
	SawNone:   "; there was no such pod when it listed them",
	SawIt:     "; the pod reported the address when it listed them",
	SawOver:   "; the pod did not report the address when it listed them, and was not Pending any more",
	SawBare:   "; the pod did not report the address yet when it listed them",
	SawListed: "; the pod did not report the address yet when it listed them, and it did not look again",
}

// saw is what st rested on, which made the change of a claim. Who watches pods is told of
// them, and not by when it began.
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
		if op.Request.Name != "" { // no list
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

// sawOf is what a pod that was there said of addresses.
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
