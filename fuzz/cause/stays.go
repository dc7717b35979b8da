package cause

import (
	"cmp"
	"slices"

	"ipamsim/model"
	"ipamsim/model/invariant"
	"ipamsim/sim"
)

// What stays though its pod is gone: nobody wrote anything wrong, somebody did not take
// it away. The story is how the life of its sandbox ended, and what the passes of the
// reconcilers did that came after.

// stays is nil for what no sandbox had, and for what is not there.
func (r *run) stays() []Link {
	l := r.rep.Ledger
	refs, rows := addresses(r.v.Objects), []model.RefKind{model.RefAddress}
	if handles := only(r.v.Objects, model.RefHandle); len(handles) > 0 {
		refs, rows = handles, nil
	}
	at := l.Last(r.v.Step, refs, rows...)
	containers := only(r.v.Objects, model.RefContainer)
	if at >= 0 && len(containers) == 0 {
		containers = only(l.Changes[at].Refs, model.RefContainer)
	}
	if r.v.Invariant != invariant.Stuck.Name && at >= 0 && l.Changes[at].Gone {
		return nil
	}
	if len(containers) == 0 {
		if i := l.Last(r.v.Step, refs); i >= 0 {
			containers = only(l.Changes[i].Refs, model.RefContainer)
		}
	}
	if len(containers) == 0 {
		return nil
	}
	end, step := r.ended(containers)
	if end == nil {
		return nil
	}
	if at >= 0 && l.Changes[at].Step > step && step > 0 { // it came back
		return r.by(at, refs)
	}
	return append([]Link{*end}, r.passes(step)...)
}

// ended is how the last call for one of the containers ended, nil if there was none, and
// after which step.
func (r *run) ended(containers []model.Ref) (l *Link, step int) {
	var last *model.Event
	for i := range r.rep.History.Events[:r.v.To] {
		e := &r.rep.History.Events[i]
		switch e.Kind {
		case model.AddBegin, model.AddEnd, model.DelBegin, model.DelEnd:
			if slices.Contains(containers, model.Ref{Kind: model.RefContainer, Name: e.Container}) {
				last = e
			}
		}
	}
	if last == nil {
		return nil, 0
	}
	if last.Kind == model.AddEnd && last.Err == "" {
		return &Link{Role: Ended, Outcome: "no DEL", Step: last.Step}, last.Step
	}
	until := last.Step
	if last.Kind == model.AddBegin || last.Kind == model.DelBegin {
		until = r.v.Step
	}
	out := r.lastOf(Ended, last.Actor, until)
	out.Outcome = map[model.EventKind]string{
		model.AddBegin: "ADD did not end", model.AddEnd: "ADD failed", model.DelBegin: "DEL did not end",
	}[last.Kind]
	if last.Kind == model.DelEnd {
		if out.Outcome = "DEL ended"; last.Err != "" {
			out.Outcome = "DEL failed"
		}
	}
	return &out, max(out.Step, last.Step)
}

// passes are the last ones that reconcilers ended after a step, one for each kind.
func (r *run) passes(after int) (out []Link) {
	last := map[string]*model.Event{}
	for i := range r.rep.History.Events[:r.v.To] {
		if e := &r.rep.History.Events[i]; e.Kind == model.Reconciled && e.Step > after {
			last[sim.ActorID(e.Actor).Kind()] = e
		}
	}
	for _, e := range last {
		l := Link{Role: Passed, Process: sim.ActorID(e.Actor).Kind(), Outcome: "ended", Step: e.Step}
		if e.Err != "" {
			l = r.lastOf(Passed, e.Actor, e.Step)
			l.Outcome = "failed"
		}
		out = append(out, l)
	}
	slices.SortFunc(out, func(a, b Link) int { return cmp.Compare(a.Process, b.Process) })
	return out
}
