package cause

import (
	"cmp"
	"slices"

	"ipamsim/model"
	"ipamsim/sim"
)

// faults are the injected faults that led to the violation: those of processes of the first
// link's kind, and of writes of the objects that it wrote. Other faults only cost time.
// The cause names an error if a process of the links received and handled it. It does not
// name a crash, because a crash at many places leads to the same violation, nor a fault of
// a write that a link names already.
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

// noSpace is the first write of such a process while etcd's database was full, if there is one:
// etcd refuses all of them.
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

// within reports whether a message is of a process that one of the links is about, and
// none that is said to have failed.
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

// failure is what the process saw of a fault: whether a request that failed was
// executed, it cannot know.
func failure(o sim.Outcome) string {
	switch o {
	case sim.FailBefore, sim.LoseReply:
		return "error"
	case sim.Drop, sim.Gone:
		return "watch broken"
	}
	return o.String()
}
