package cause

import (
	"slices"

	"ipamsim/model"
	"ipamsim/reports"
	"ipamsim/sim"
)

// Race is a read by a process, and a change by another process between that read and the write
// that used it. A run shows that their order decides if the read comes after the change and
// nothing breaks.
type Race struct {
	Read, Change *sim.Step
}

// Stale returns the outdated reads that the write of a cause may have depended on. For each
// object and list that the process had read, Stale pairs the last read before the write with a
// change by another process in between, if the change is about the written object or an object
// of the violation. The latest change comes first; there are at most racesMax.
func Stale(rep *reports.Report, v *model.Violation, c *Cause) []Race {
	if len(c.Links) == 0 || c.Links[0].Role != Wrote && c.Links[0].Role != Handed && c.Links[0].Role != Refused {
		return nil
	}
	write := stepOf(rep.Trace, c.Links[0].Step)
	if write == nil || write.Choice.Op.Request == nil {
		return nil
	}
	by := write.Choice.Op
	var reads []*sim.Step // the last read of each path
	seen := map[string]bool{}
	before, _ := slices.BinarySearchFunc(rep.Trace.Steps, write.Step, func(st *sim.Step, n int) int { return st.Step - n })
	for i := before - 1; i >= 0; i-- {
		st := rep.Trace.Steps[i]
		op := st.Choice.Op
		if op.Actor != by.Actor || op.Incarnation != by.Incarnation || op.Request == nil || op.Request.Path == "" ||
			op.Kind != sim.Read && op.Kind != sim.Event || seen[op.Request.Path+op.Request.Query] {
			continue
		}
		seen[op.Request.Path+op.Request.Query] = true
		reads = append(reads, st)
	}
	var out []Race
	for _, read := range reads {
		concerned := func(r *sim.Request) bool { return r.Path == by.Request.Path || names(v, r) }
		if change := changed(rep.Trace.Steps[:before], read, concerned); change != nil {
			out = append(out, Race{read, change})
		}
	}
	slices.SortStableFunc(out, func(a, b Race) int { return b.Change.Step - a.Change.Step })
	return out[:min(len(out), racesMax)]
}

const racesMax = 6

// names reports whether a request is about an object of the violation.
func names(v *model.Violation, r *sim.Request) bool {
	return slices.ContainsFunc(v.Objects, func(o model.Ref) bool {
		return o.Name == r.Name || o.Kind == model.RefPod && o.Name == r.Namespace+"/"+r.Name
	})
}

// changed returns the last write by another process, after a read, of what was read.
func changed(steps []*sim.Step, read *sim.Step, concerned func(*sim.Request) bool) *sim.Step {
	r := read.Choice.Op
	for i := len(steps) - 1; i >= 0 && steps[i].Step > read.Step; i-- {
		op := steps[i].Choice.Op
		if op.Kind == sim.Write && op.Actor != r.Actor && op.Request != nil && done(steps[i].Choice.Outcome) && about(r.Request, op.Request) && concerned(op.Request) {
			return steps[i]
		}
	}
	return nil
}

// done reports whether the server executed a request.
func done(o sim.Outcome) bool { return o == sim.Proceed || o == sim.LoseReply }

// about reports whether a write may concern what was read. Selectors of lists are ignored:
// whether the change mattered is decided by a run.
func about(read, write *sim.Request) bool {
	if read.Meets(write) {
		return true
	}
	plain := *read
	plain.Query, plain.Subresource = "", ""
	other := *write
	other.Query, other.Subresource = "", ""
	return plain.Meets(&other)
}

// Races returns the races of v's cause c that runs have shown to decide.
func (c *Cause) Races(v *model.Violation) (out []model.Race) {
	for i := 1; i < len(c.Links); i++ {
		if read, change := &c.Links[i-1], &c.Links[i]; read.Role == Read && change.Role == Changed {
			out = append(out, model.Race{Invariant: v.Invariant, Code: v.Code, Read: read.Step, Change: change.Step, Use: c.Links[0].Step})
		}
	}
	return out
}

// Decided adds to the cause a race that a run has shown to decide.
func (c *Cause) Decided(rep *reports.Report, of Race) {
	r := &run{rep: rep}
	read, change := r.link(Read, of.Read), r.link(Changed, of.Change)
	change.Outcome = r.became(of)
	for i := range c.Links { // one race of each kind is enough
		if c.Links[i].same() == read.same() && i+1 < len(c.Links) && c.Links[i+1].same() == change.same() {
			return
		}
	}
	// Races are tried latest change first. If the latest read had been in time, the earlier
	// ones would not matter.
	aside := slices.ContainsFunc(c.Links, func(l Link) bool { return l.Role == Read })
	read.Aside, change.Aside = aside, aside
	c.Links = append(c.Links, read, change)
}

// became returns what the change of a race did to the object, if the difference makes another
// mistake: the read was before the object was created (whatever was written to it afterwards),
// before it was deleted, or ("") before it changed.
func (r *run) became(of Race) string {
	change := of.Change.Choice.Op.Request
	switch r.link(Changed, of.Change).Verb {
	case "POST":
		return created
	case "DELETE":
		return removed
	}
	for _, st := range r.rep.Trace.Steps {
		if op := st.Choice.Op; st.Step > of.Read.Step && st.Step < of.Change.Step && op.Request != nil && op.Request.Path == change.Path &&
			done(st.Choice.Outcome) && r.link(Changed, st).Verb == "POST" {
			return created
		}
	}
	return ""
}

// Swapped reports whether both messages of a race occurred in another run, the read after the
// change. Only such a run tries the other order.
func (of Race) Swapped(rep *reports.Report) bool {
	same := func(a, b sim.Op) bool { return a.Actor == b.Actor && a.Incarnation == b.Incarnation && a.Seq == b.Seq }
	changed := false
	for _, st := range rep.Trace.Steps {
		switch op := st.Choice.Op; {
		case same(op, of.Change.Choice.Op):
			changed = true
		case same(op, of.Read.Choice.Op):
			return changed
		}
	}
	return false
}

// Shows reports whether another run shows the effect of a race's other order: the read came
// after the change, and no limit cut the run short.
func (of Race) Shows(rep *reports.Report) bool { return rep.Reason == "" && of.Swapped(rep) }
