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

// Stories of addresses that come out of blocks: who owns the block decides what
// becomes of the address, and that was settled long before there was a pod.

// owns reports whether a message is to make somebody the owner of a block, or nobody.
func owns(a *act.Act) bool {
	switch a.Thing.Kind {
	case act.Affinity:
		return a.Write()
	case act.Block:
		return a.Verb == act.Create || a.Verb == act.Delete || a.Verb == act.Update && !a.Bare && !a.Thing.Deleted && a.Thing.Owner.Name == ""
	}
	return false
}

// surveys reports whether a message is what a node looks at before it takes a block, or
// an address out of somebody else's.
func surveys(a *act.Act) bool {
	return a.Verb == act.List && a.Outcome == act.Done && (a.Thing.Kind == act.Affinity || a.Thing.Kind == act.Block)
}

// surveyed reports whether a message follows from what surveys shows: it is about one
// block, or claims one.
func surveyed(a *act.Act) bool {
	return a.Thing.Kind == act.Block && a.Verb != act.List || a.Thing.Kind == act.Affinity && a.Verb == act.Create
}

// bookkeeping reports whether a message is what every allocation does as well, and what
// no story turns on unless it is about a handle.
func bookkeeping(a *act.Act) bool { return a.Thing.Kind == act.Handle && a.Write() }

// assignments looks for the blocks that hold an address of the violation in what the
// pods' own calls wrote.
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

// ranged reports whether a message gives a node of the violation a range to draw from.
func (s *subject) ranged(a *act.Act) bool {
	return slices.ContainsFunc(a.Gives, func(t act.Thing) bool {
		return t.Kind == act.Block && slices.Contains(s.named[t.Owner.Kind], t.Owner.Name)
	})
}

// blockWritten weighs a write that is about blocks, handles or nodes, and not
// about an address of the violation. It is of no interest to others if it reports
// false.
func (s *subject) blockWritten(e *entry, m mentions) bool {
	// Where a violation names neither pod nor address, nodes and blocks are the
	// heroes.
	hero := len(s.named[model.RefAddress]) == 0 && len(s.named[model.RefPod]) == 0
	kind := e.act.Thing.Kind
	owned := owns(&e.act) && (m.block || hero && m.node && len(s.blocks) == 0)
	borrowed := hero && !m.node && (kind == act.Block || kind == act.Affinity) && slices.Contains(s.named[model.RefNode], s.nodeOf[e.actor])
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
	case hero && m.block:
		e.weight, e.turn = glimpse, "used"
	case m.block && !m.pod && !slices.Contains(s.pods, e.lane):
		return false // what others were given out of it
	case m.block:
		e.weight = scenery + 1
	}
	return true
}

// ownership is what a step on the way to a block, or from it, is worth. In the
// story of an address only the outcome counts, and the attempts of a node that has
// to do with it.
func (s *subject) ownership(a *act.Act, m mentions) int {
	affinity := a.Thing.Kind == act.Affinity
	switch {
	case affinity && a.Verb == act.Update && !a.Thing.Deleted && a.Thing.State == model.Pending:
		return attempt - 1
	case len(s.named[model.RefAddress]) == 0:
		return fate
	case affinity && (a.Verb != act.Update || a.Thing.Deleted):
		if m.node {
			return look
		}
		return attempt - 1
	}
	return fate
}
