// Package verify covers every schedule of a scenario within bounds: the runs that
// partial-order reduction (sim/por) asks for, in processes of their own, kept in a folder
// from which it goes on.
package verify

import (
	"context"
	"fmt"
	"time"

	"ipamsim/model"
	"ipamsim/reports"
	"ipamsim/scenarios"
	"ipamsim/sim"
	"ipamsim/sim/hermetic"
	"ipamsim/sim/por"
)

// Instant is how coarse time is: what timers send within waits together. It is far longer
// than the nanoseconds that the steps of one instant take, and shorter than what anybody
// waits for.
const Instant = time.Millisecond

// within is a world in which so many faults may happen.
func within(s *scenarios.Scenario, faults int) *scenarios.Scenario {
	w := *s
	w.Doc.Spec.Faults.Max = faults
	w.Doc.Spec.Schedule = nil
	return &w
}

// run a world as a plan says.
func run(ctx context.Context, r *scenarios.Runner, w *scenarios.Scenario, p por.Plan) (*por.Log, *reports.Report, error) {
	var rep *reports.Report
	for n := 1; ; n++ {
		g := por.NewGuide(p, w.Faults())
		var err error
		if rep, err = r.Run(ctx, w, scenarios.Options{Store: scenarios.Memory, Instant: Instant, Walk: g}); err != nil {
			return nil, nil, err
		}
		if rep.Foreign == 0 || !hermetic.Enabled {
			return logOf(g, rep), rep, nil
		}
		if n == wakesMax {
			return nil, nil, fmt.Errorf("%d wake-ups from outside the bubble: the run may not repeat", rep.Foreign)
		}
	}
}

// wakesMax: a run that something outside woke is done again; that hits hardly one in a
// thousand.
const wakesMax = 5

func logOf(g *por.Guide, rep *reports.Report) *por.Log {
	l := g.Log(rep.Trace, rep.Virtual)
	l.Cut = rep.Reason
	for i, st := range rep.Trace.Steps {
		l.Steps[i].Visible = podOrNode(st)
	}
	see := func(step int) {
		if 0 < step && step <= len(l.Steps) {
			l.Steps[step-1].Visible = true
		}
	}
	for i := range rep.Ledger.Changes {
		see(rep.Ledger.Changes[i].Step)
	}
	for i := range rep.History.Events {
		see(rep.History.Events[i].Step)
	}
	for i := range rep.Violations {
		v := &rep.Violations[i]
		see(v.Step)
		l.Breaks = append(l.Breaks, por.Break{Step: v.Step, Invariant: v.Invariant, Message: v.Message})
	}
	return l
}

// podOrNode: what is judged includes stored pods and nodes.
func podOrNode(st *sim.Step) bool {
	op := st.Choice.Op
	if op.Kind != sim.Write || op.Request == nil || st.Choice.Outcome == sim.FailBefore {
		return false
	}
	return op.Request.Resource == "pods" || op.Request.Resource == "nodes"
}

// first is the violation that a run broke by first, nil if it did by none that matters.
func first(rep *reports.Report, matters func(invariant string) bool) *model.Violation {
	for i := range rep.Violations {
		if v := &rep.Violations[i]; matters(v.Invariant) {
			return v
		}
	}
	return nil
}
