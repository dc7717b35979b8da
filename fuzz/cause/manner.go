package cause

import (
	"regexp"
	"slices"

	"ipamsim/model"
	"ipamsim/model/act"
	"ipamsim/sim"
)

// Outcomes of a write of an allocation counter.
const (
	countedUp       = "counted"
	countedAgain    = "counted again"             // the process repeated a write that had been executed
	countedConflict = "counted before a conflict" // the claim that was counted met a conflict
	countedDown     = "counted down"
)

// The manners of a write or call (Link.Manner).
const (
	ignoredError = "in spite of an error" // the last request of a successful call had failed
	unlisted     = "unlisted"             // the process never listed the objects that it limits
	borrowed     = "borrowed"             // the claim is in a block of another node
	bare         = "without a tunnel"     // a node on the route has no tunnel address, but other nodes have
)

// tally returns the outcome of the i-th change, made at step st: for a handle, whether it counted
// up or down; for other rows, became.
//
// The process counts before it claims. countedAgain: the first write was executed but its
// reply was an error, so the process counted again. countedConflict: the claim that follows
// met a conflict.
func (r *run) tally(i int, st *sim.Step, became string) string {
	l := r.rep.Ledger
	c := &l.Changes[i]
	if c.Row != model.RefHandle {
		return became
	}
	was := 0
	if j := r.before(c); j >= 0 {
		was = sum(&l.Changes[j])
	}
	switch {
	case sum(c) <= was:
		return countedDown
	case r.repeated(st):
		return countedAgain
	case r.conflicted(st):
		return countedConflict
	}
	return countedUp
}

// sum returns the addresses that a handle counts, in all blocks or in the given ones.
func sum(c *model.Change, blocks ...model.Ref) (n int) {
	for i := range c.Counts {
		if len(blocks) == 0 || slices.Contains(blocks, model.BlockOf(c.Counts[i].Block)) {
			n += c.Counts[i].Count
		}
	}
	return n
}

// recounts reports whether a change alters a handle's count for a block, or the block itself.
func (r *run) recounts(c *model.Change, block model.Ref) bool {
	if c.Row != model.RefHandle || !c.Names(block) {
		return c.Names(block)
	}
	was := 0
	if j := r.before(c); j >= 0 {
		was = sum(&r.rep.Ledger.Changes[j], block)
	}
	return sum(c, block) != was
}

// before returns the index of the previous change of the same row, -1 if there is none.
func (r *run) before(c *model.Change) int {
	return r.rep.Ledger.LastOf(c.Step-1, func(o *model.Change) bool { return o.Row == c.Row && o.Names(only(c.Refs, c.Row)...) })
}

// repeated reports whether the process wrote the same object twice because the first write was
// executed but its reply was an error. st is one of the two writes.
func (r *run) repeated(st *sim.Step) bool {
	lost := false
	for _, o := range r.writes(st) {
		if o.Choice.Op.Request.Path != st.Choice.Op.Request.Path || !done(o.Choice.Outcome) {
			continue
		}
		if lost && o.Step >= st.Step {
			return true
		}
		if changed := r.rep.Ledger.LastOf(o.Step, func(c *model.Change) bool { return c.Step == o.Step }) >= 0; changed {
			lost = o.Choice.Outcome == sim.LoseReply
		}
	}
	return false
}

// conflicted reports whether the process's next write to another object met a conflict.
func (r *run) conflicted(st *sim.Step) bool {
	for _, o := range r.writes(st) {
		if o.Step > st.Step && o.Choice.Op.Request.Path != st.Choice.Op.Request.Path {
			return r.rep.Did(o).Outcome == act.Conflict
		}
	}
	return false
}

// writes returns all writes by the process of a step, in order.
func (r *run) writes(st *sim.Step) (out []*sim.Step) {
	by := st.Choice.Op
	for _, o := range r.rep.Trace.Steps {
		if op := o.Choice.Op; op.Kind == sim.Write && op.Request != nil && op.Actor == by.Actor && op.Incarnation == by.Incarnation {
			out = append(out, o)
		}
	}
	return out
}

// listed reports whether the process of a write had listed objects of that kind before.
func (r *run) listed(write *sim.Step) bool {
	by := write.Choice.Op
	return slices.ContainsFunc(r.rep.Trace.Steps, func(st *sim.Step) bool {
		op := st.Choice.Op
		return st.Step < write.Step && op.Actor == by.Actor && op.Incarnation == by.Incarnation && op.Kind == sim.Read &&
			op.Request != nil && op.Request.Path != by.Request.Path && about(op.Request, by.Request)
	})
}

// erred reports whether a read failed or returned "not found".
func (r *run) erred(st *sim.Step) bool {
	return st != nil && st.Choice.Op.Kind == sim.Read && (st.Choice.Outcome.Fault() || r.rep.Did(st).Outcome != act.Done)
}

// route returns what is unusual about the route to the address of the i-th change.
func (r *run) route(i int) string {
	on, _ := model.FactOf[model.Ref](r.v.Facts, "on")
	from, _ := model.FactOf[model.Ref](r.v.Facts, "from")
	switch {
	case r.borrows(i):
		return borrowed
	case on.Name != "" && r.tunnel(nil) && (!r.tunnel(&on) || !r.tunnel(&from)):
		return bare
	}
	return ""
}

// tunnel reports whether a node has a tunnel address of its own when the invariant breaks; for
// nil, whether any node has.
func (r *run) tunnel(node *model.Ref) bool {
	i := r.rep.Ledger.LastOf(r.v.Step, func(c *model.Change) bool {
		own := c.Row == model.RefAddress && len(only(c.Refs, model.RefNode)) > 0 && len(only(c.Refs, model.RefPod))+len(only(c.Refs, model.RefContainer)) == 0
		return own && (node == nil && !c.Gone || node != nil && c.Names(*node))
	})
	return i >= 0 && !r.rep.Ledger.Changes[i].Gone
}

// borrows reports whether the i-th change is a claim in a block that belongs to another node.
func (r *run) borrows(i int) bool {
	l := r.rep.Ledger
	c := &l.Changes[i]
	blocks, nodes := only(c.Refs, model.RefBlock), only(c.Refs, model.RefNode)
	j := l.Last(c.Step, blocks, model.RefBlock)
	return c.Row == model.RefAddress && len(nodes) > 0 && j >= 0 && !l.Changes[j].Gone && !l.Changes[j].Names(nodes...)
}

// closure is the suffix with which the compiler numbers a function literal within its function.
var closure = regexp.MustCompile(`(\.func\d+(\.\d+)*)+$`)

// enclosing returns the functions without the numbers of their literals, because another
// version of the same code may number them differently.
func enclosing(functions []string) (out []string) {
	for _, f := range functions {
		out = append(out, closure.ReplaceAllString(f, ""))
	}
	return out
}
