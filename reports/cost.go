package reports

import (
	"slices"
	"time"

	"ipamsim/model"
	"ipamsim/model/act"
	"ipamsim/sim"
	"ipamsim/sim/kube/exchange"
)

// Cost is what a run took, by measure: the same for the same run, on any machine. Amounts
// are for each process of a kind; of a usual one, of times and of what there is at a time
// there is one.
type Cost map[Measure]Amount

// Amount is a sum over Of things; 1 for what is counted once in a run.
type Amount struct{ Sum, Of float64 }

// Each is the amount for one of the things.
func (a Amount) Each() float64 { return a.Sum / a.Of }

// CostOf is the cost of a run.
func CostOf(r *Report) Cost {
	c := Cost{}
	if r.Trace == nil || r.History == nil {
		return c
	}
	kinds := map[string][]work{}
	for _, w := range r.works() {
		kinds[w.kind] = append(kinds[w.kind], *w)
	}
	for kind, all := range kinds {
		c.processes(kind, all)
	}
	c.times(r.History)
	c.refused(r.History)
	u := r.Used
	for _, x := range []struct {
		of        Family
		most, end int
	}{{Addresses, u.AddressesMost, u.Addresses}, {Blocks, u.BlocksMost, u.Blocks}, {Routes, u.RoutesMost, u.Routes}} {
		if x.most > 0 {
			c[Measure{Family: x.of, When: AtMost}], c[Measure{Family: x.of, When: AtTheEnd}] = Amount{float64(x.most), 1}, Amount{float64(x.end), 1}
		}
	}
	return c
}

// work is what one process asked for.
type work struct {
	kind                     string
	calls, writes, conflicts int
}

// works are the manager's processes, those that never asked for anything too.
func (r *Report) works() map[sim.ActorID]*work {
	passes := map[string]bool{}
	for i := range r.History.Events {
		if e := &r.History.Events[i]; e.Kind == model.Reconcile {
			passes[e.Actor] = true
		}
	}
	out := map[sim.ActorID]*work{}
	for _, id := range r.Upstreams {
		kind := id.Kind()
		switch {
		case kind == "cni-add":
			kind = ADD
		case kind == "cni-del":
			kind = DEL
		case passes[string(id)]:
			kind = "pass of " + kind
		}
		out[id] = &work{kind: kind}
	}
	for _, s := range r.Trace.Steps {
		w, op := out[s.Choice.Op.Actor], s.Choice.Op
		if w == nil || s.Detail == nil || op.Kind == sim.Event || op.Kind == sim.Local || op.OnNode {
			continue
		}
		w.calls++
		if op.Kind == sim.Write {
			w.writes++
			if r.conflict(s) {
				w.conflicts++
			}
		}
	}
	return out
}

// conflict: a write that was refused because what it was based on is not so any
// more.
func (r *Report) conflict(s *sim.Step) bool {
	var o act.Outcome
	if x, ok := s.Detail.(exchange.Exchange); ok {
		o = x.Act().Outcome // which needs no body
	} else {
		o = r.Did(s).Outcome
	}
	return o == act.Conflict || o == act.Exists
}

// processes adds what those of one kind asked for.
func (c Cost) processes(kind string, all []work) {
	n := float64(len(all))
	var calls, writes, conflicts int
	each := make([]int, len(all))
	for i, w := range all {
		calls, writes, conflicts = calls+w.calls, writes+w.writes, conflicts+w.conflicts
		each[i] = w.calls
	}
	slices.Sort(each)
	c[Measure{Family: APICalls, Per: kind}] = Amount{float64(calls), n}
	c[Measure{Family: Writes, Per: kind}] = Amount{float64(writes), n}
	c[Measure{Family: Conflicts, Per: kind}] = Amount{float64(conflicts), n}
	c[Measure{Family: UsualAPICalls, Per: kind}] = Amount{float64(each[(len(each)-1)/2]), 1}
}

// times adds how long ADDs and DELs took. An ADD that failed says nothing of how
// long pods wait for an address.
func (c Cost) times(h *model.History) {
	began, took := map[string]time.Duration{}, map[string][]time.Duration{}
	for i := range h.Events {
		switch e := &h.Events[i]; e.Kind {
		case model.AddBegin, model.DelBegin:
			began[e.Actor] = e.At
		case model.AddEnd:
			if e.Err == "" {
				took[ADD] = append(took[ADD], e.At-began[e.Actor])
			}
		case model.DelEnd:
			took[DEL] = append(took[DEL], e.At-began[e.Actor])
		}
	}
	for kind, all := range took {
		slices.Sort(all)
		for _, s := range shares {
			c[Measure{Family: s.family, Per: kind}] = Amount{all[int(s.share*float64(len(all)-1))].Seconds(), 1}
		}
	}
}

// refused adds what ADDs did not get. A process that died or is still at it at the end
// got nothing, either.
func (c Cost) refused(h *model.History) {
	type wish struct {
		pod          model.PodRef
		network, nic string
	}
	asked, given, has := 0, 0, map[wish]bool{}
	for i := range h.Events {
		e := &h.Events[i]
		w := wish{e.Pod, e.Network, e.Interface}
		switch {
		case e.Kind == model.AddBegin:
			asked++
			if !has[w] {
				has[w] = false // it is counted
			}
		case e.Kind == model.AddEnd && e.Err == "":
			given++
			has[w] = true
		}
	}
	if asked == 0 {
		return
	}
	without := 0
	for _, one := range has {
		if !one {
			without++
		}
	}
	c[Measure{Family: RefusedADDs}], c[Measure{Family: WithoutAddress}] = Amount{float64(asked - given), 1}, Amount{float64(without), float64(len(has))}
}
