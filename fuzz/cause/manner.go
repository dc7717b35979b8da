package cause

import (
	"regexp"
	"slices"

	"ipamsim/model"
	"ipamsim/model/act"
	"ipamsim/sim"
)

// Outcomes of a write of what counts claims.
const (
	countedUp     = "counted"
	countedAgain  = "counted again"             // by a process that repeats what had been done
	countedInVain = "counted before a conflict" // of the claim that it was counted for
	countedDown   = "counted down"
)

// Manners.
const (
	inSpite  = "in spite of an error" // the last message of a call that ended well had one for an answer
	unlisted = "unlisted"             // it never read how many of its kind there are
	borrowed = "borrowed"             // a claim in a block of another node
	bare     = "without a tunnel"     // a node on the way has none, and others have
)

// tally is what the i-th change did that a step made: of a count whether it was counted up
// or down, of others what became of the row.
//
// A process counts before it claims. Counted again is one that was told of an error,
// though it had been counted; in vain one whose claim met a conflict.
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
		return countedInVain
	}
	return countedUp
}

// sum is what a handle counts, in one of some blocks if there are any.
func sum(c *model.Change, blocks ...model.Ref) (n int) {
	for i := range c.Counts {
		if len(blocks) == 0 || slices.Contains(blocks, model.BlockOf(c.Counts[i].Block)) {
			n += c.Counts[i].Count
		}
	}
	return n
}

// recounts reports whether a change is of what a handle counts in a block, or of the block.
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

// before is the position of the change of the same handle before one, -1 if there is none.
func (r *run) before(c *model.Change) int {
	return r.rep.Ledger.LastOf(c.Step-1, func(o *model.Change) bool { return o.Row == c.Row && o.Names(only(c.Refs, c.Row)...) })
}

// repeated reports whether the process of a write was told of an error of one of its writes
// of that object that was done, and wrote it once more: st is the one or the other.
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

// conflicted reports whether the next write by the process of a write, of another object, was
// refused for a conflict.
func (r *run) conflicted(st *sim.Step) bool {
	for _, o := range r.writes(st) {
		if o.Step > st.Step && o.Choice.Op.Request.Path != st.Choice.Op.Request.Path {
			return r.rep.Did(o).Outcome == act.Conflict
		}
	}
	return false
}

// writes are all of the process of a step, in order.
func (r *run) writes(st *sim.Step) (out []*sim.Step) {
	by := st.Choice.Op
	for _, o := range r.rep.Trace.Steps {
		if op := o.Choice.Op; op.Kind == sim.Write && op.Request != nil && op.Actor == by.Actor && op.Incarnation == by.Incarnation {
			out = append(out, o)
		}
	}
	return out
}

// listed reports whether the process of a write had read a list of what it wrote.
func (r *run) listed(write *sim.Step) bool {
	by := write.Choice.Op
	return slices.ContainsFunc(r.rep.Trace.Steps, func(st *sim.Step) bool {
		op := st.Choice.Op
		return st.Step < write.Step && op.Actor == by.Actor && op.Incarnation == by.Incarnation && op.Kind == sim.Read &&
			op.Request != nil && op.Request.Path != by.Request.Path && about(op.Request, by.Request)
	})
}

// erred reports whether what a process read was not there, or could not be read.
func (r *run) erred(st *sim.Step) bool {
	return st != nil && st.Choice.Op.Kind == sim.Read && (st.Choice.Outcome.Fault() || r.rep.Did(st).Outcome != act.Done)
}

// way says what is particular to the way to an address that the i-th change is about.
func (r *run) way(i int) string {
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

// tunnel reports whether a node claims an address for itself when the invariant breaks, of
// nil whether any does.
func (r *run) tunnel(node *model.Ref) bool {
	i := r.rep.Ledger.LastOf(r.v.Step, func(c *model.Change) bool {
		own := c.Row == model.RefAddress && len(only(c.Refs, model.RefNode)) > 0 && len(only(c.Refs, model.RefPod))+len(only(c.Refs, model.RefContainer)) == 0
		return own && (node == nil && !c.Gone || node != nil && c.Names(*node))
	})
	return i >= 0 && !r.rep.Ledger.Changes[i].Gone
}

// borrows reports whether the i-th change is a claim in a block that another node has.
func (r *run) borrows(i int) bool {
	l := r.rep.Ledger
	c := &l.Changes[i]
	blocks, nodes := only(c.Refs, model.RefBlock), only(c.Refs, model.RefNode)
	j := l.Last(c.Step, blocks, model.RefBlock)
	return c.Row == model.RefAddress && len(nodes) > 0 && j >= 0 && !l.Changes[j].Gone && !l.Changes[j].Names(nodes...)
}

// closure is what the compiler names a function literal by: which one it is in its function.
var closure = regexp.MustCompile(`(\.func\d+(\.\d+)*)+$`)

// enclosing are functions without the number of their literal, which another version of the
// same code need not have.
func enclosing(functions []string) (out []string) {
	for _, f := range functions {
		out = append(out, closure.ReplaceAllString(f, ""))
	}
	return out
}
