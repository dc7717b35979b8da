package timeline

import (
	"cmp"
	"net/netip"
	"slices"

	"ipamsim/model"
	"ipamsim/model/act"
	"ipamsim/reports"
	"ipamsim/sim"
)

// For address managers with blocks, a timeline includes the changes of a block's owner: the
// owner decides who gets an address, and is set long before the pod exists.

// owns reports whether a message is to set or remove the owner of a block.
func owns(a *act.Act) bool {
	switch a.Thing.Kind {
	case act.Affinity:
		return a.Write()
	case act.Block:
		return a.Verb == act.Create || a.Verb == act.Delete || a.Verb == act.Update && !a.Bare && !a.Thing.Deleted && a.Thing.Owner.Name == ""
	}
	return false
}

// surveys reports whether a message is the list that a node reads before it claims a block
// or borrows an address from another node's block.
func surveys(a *act.Act) bool {
	return a.Verb == act.List && a.Outcome == act.Done && (a.Thing.Kind == act.Affinity || a.Thing.Kind == act.Block)
}

// surveyed reports whether a message depends on such a list: it is about one block, or
// claims one.
func surveyed(a *act.Act) bool {
	return a.Thing.Kind == act.Block && a.Verb != act.List || a.Thing.Kind == act.Affinity && a.Verb == act.Create
}

// bookkeeping reports whether a message writes a handle. Every allocation does, so it
// matters only for a violation about a handle.
func bookkeeping(a *act.Act) bool { return a.Thing.Kind == act.Handle && a.Write() }

// assignments adds the blocks that contain an address of the violation and that the pods'
// own CNI calls wrote.
func (s *subject) assignments(r *reports.Report) {
	var addrs []netip.Addr
	for _, name := range s.named[model.RefAddress] {
		if a, err := netip.ParseAddr(name); err == nil {
			addrs = append(addrs, a)
		}
	}
	if r.Trace == nil || len(addrs) == 0 {
		return
	}
	for _, st := range r.Trace.Steps {
		if op := st.Choice.Op; st.Step > s.v.Step || op.Kind != sim.Write || !slices.Contains(s.pods, s.podOf[string(op.Actor)]) {
			continue
		}
		a := r.Did(st)
		if k := a.Thing.Kind; k != act.Block && k != act.Affinity || slices.Contains(s.blocks, a.Thing.Name) {
			continue
		}
		if p, err := netip.ParsePrefix(a.Thing.Name); err == nil && slices.ContainsFunc(addrs, p.Contains) {
			s.blocks = append(s.blocks, a.Thing.Name)
		}
	}
}

// ranged reports whether a message assigns a range to a node of the violation.
func (s *subject) ranged(a *act.Act) bool {
	return slices.ContainsFunc(a.Gives, func(t act.Thing) bool {
		return t.Kind == act.Block && slices.Contains(s.named[t.Owner.Kind], t.Owner.Name)
	})
}

// blockWritten sets the weight of a write about blocks, handles or nodes that is not about
// an address of the violation. It returns false if the caller must not give it a weight.
func (s *subject) blockWritten(e *entry, m mentions) bool {
	// A violation that names neither pod nor address is about nodes and blocks.
	main := len(s.named[model.RefAddress]) == 0 && len(s.named[model.RefPod]) == 0
	kind := e.act.Thing.Kind
	owned := owns(&e.act) && (m.block || main && m.node && len(s.blocks) == 0)
	borrowed := main && !m.node && (kind == act.Block || kind == act.Affinity) && slices.Contains(s.named[model.RefNode], s.nodeOf[e.actor])
	if m.any() || owned || borrowed {
		e.lane = cmp.Or(s.podOf[e.actor], e.lane)
	}
	switch {
	case m.handle:
		e.weight, e.turn = fate, "counted"
	case owned:
		e.weight, e.turn = s.ownership(&e.act, m), "owned"
	case bookkeeping(&e.act):
		return false
	case borrowed:
		e.weight, e.turn = cause, "borrowed"
	case main && m.block:
		e.weight, e.turn = glimpse, "used"
	case m.block && !m.pod && !slices.Contains(s.pods, e.lane):
		return false // assignments to other pods
	case m.block:
		e.weight = scenery + 1
	}
	return true
}

// ownership returns the weight of a step that claims or releases a block. For a violation
// about an address, only the outcome counts and the attempts of a node of the violation.
func (s *subject) ownership(a *act.Act, m mentions) int {
	affinity := a.Thing.Kind == act.Affinity
	switch {
	case affinity && a.Verb == act.Update && !a.Thing.Deleted && a.Thing.State == model.Pending:
		return attempt - 1
	case len(s.named[model.RefAddress]) == 0:
		return fate
	case affinity && (a.Verb != act.Update || a.Thing.Deleted):
		if m.node {
			return reconcilerRead
		}
		return attempt - 1
	}
	return fate
}
