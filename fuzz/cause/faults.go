package cause

import (
	"cmp"
	"slices"

	"ipamsim/model"
	"ipamsim/sim"
)

// faults returns the injected faults that led to the violation: those of processes of the same
// kind as the first link's, and of writes of the resource that the first link wrote. Other
// faults only delayed something. An error is part of the cause if a process of the links
// received and handled it. A crash is marked Aside, because crashes at many places lead to the
// same violation, and so is a fault of a write that is already a link.
func (r *run) faults(links []Link) (out []Link) {
	to := links[0]
	for _, st := range r.rep.Trace.Steps {
		if st.Step > r.v.Step || !st.Choice.Outcome.Fault() {
			continue
		}
		l := r.link(Fault, st)
		if l.Process != to.Process && (st.Choice.Op.Kind != sim.Write || l.Resource != to.Resource) {
			continue
		}
		l.Outcome = failure(st.Choice.Outcome)
		l.Aside = st.Choice.Outcome == sim.Crash || !r.within(links, st)
		if !slices.ContainsFunc(out, func(o Link) bool { return o.same() == l.same() && o.Aside == l.Aside }) {
			out = append(out, l)
		}
	}
	out = append(out, r.noSpace(to.Process)...)
	slices.SortStableFunc(out, func(a, b Link) int { return cmp.Compare(a.same(), b.same()) })
	return out
}

// noSpace returns the first write by processes of a kind while etcd's database was full, when
// etcd refuses all writes. It is empty if there is none.
func (r *run) noSpace(process string) []Link {
	for i := range r.rep.History.Events[:r.v.To] {
		if e := &r.rep.History.Events[i]; e.Kind != model.Operator || e.Action.Stops != model.StopsDatastore || e.Over {
			continue
		}
		end := r.v.Step
		if j := slices.IndexFunc(r.rep.History.Events[i:r.v.To], func(e model.Event) bool { return e.Action.Stops == model.StopsDatastore && e.Over }); j >= 0 {
			end = r.rep.History.Events[i+j].Step
		}
		for _, st := range r.rep.Trace.Steps {
			if op := st.Choice.Op; st.Step > r.rep.History.Events[i].Step && st.Step <= end && op.Kind == sim.Write && op.Actor.Kind() == process {
				return []Link{{Role: Fault, Process: process, Outcome: "no space", Step: st.Step}}
			}
		}
	}
	return nil
}

// within reports whether a message was sent by a process of one of the links, and is not
// itself a link with the role Failed.
func (r *run) within(links []Link, st *sim.Step) bool {
	in := false
	for i := range links {
		if links[i].Role == Failed && links[i].Step == st.Step {
			return false
		}
		if other := stepOf(r.rep.Trace, links[i].Step); other != nil {
			a, b := other.Choice.Op, st.Choice.Op
			in = in || a.Actor == b.Actor && a.Incarnation == b.Incarnation
		}
	}
	return in
}

// failure returns what the process observed of a fault. It cannot know whether a failed
// request was executed.
func failure(o sim.Outcome) string {
	switch o {
	case sim.FailBefore, sim.LoseReply:
		return "error"
	case sim.Drop, sim.Gone:
		return "watch broken"
	}
	return o.String()
}
