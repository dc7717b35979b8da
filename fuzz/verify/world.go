// Package verify covers every schedule of a scenario within bounds: the runs that
// partial-order reduction (sim/por) asks for, in processes of their own, kept in a folder
// from which it goes on.
package verify

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	"ipamsim/fuzz/verify/internal/touches"
	"ipamsim/model"
	"ipamsim/reports"
	"ipamsim/scenarios"
	"ipamsim/sim/hermetic"
	"ipamsim/sim/kube"
	"ipamsim/sim/por"
)

// Instant is how coarse time is: what timers send within waits together. It is far longer
// than the nanoseconds that the steps of one instant take, and shorter than what anybody
// waits for.
const Instant = time.Millisecond

// World is a scenario in which so many faults may happen, with the simple controllers unless it
// says otherwise: Kubernetes' own send ten times as many messages, whose orders say nothing
// of addresses.
func World(s *scenarios.Scenario, faults int) *scenarios.Scenario {
	w := *s.WithSimpleControllers()
	w.Doc.Spec.Faults.Max = faults
	w.Doc.Spec.Schedule = nil
	return &w
}

// RunPlan runs a world as a plan says, with what else the caller wants of the run.
func RunPlan(ctx context.Context, r *scenarios.Runner, w *scenarios.Scenario, p por.Plan, o scenarios.Options) (*por.Log, *reports.Report, error) {
	o.Store, o.Instant = scenarios.Memory, Instant
	var rep *reports.Report
	for n := 1; ; n++ {
		g := por.NewGuide(p, w.Faults())
		o.Walk = g
		starting := map[string]bool{} // pods that do not run yet
		o.Served = func(api *kube.Server) {
			api.OnChange(func(ch kube.Change) {
				if g.Wrote(written(ch)); ch.Resource == "pods" {
					name := ch.Namespace + "/" + ch.Name
					p, ok := ch.Object.(*corev1.Pod)
					if delete(starting, name); ok && p.Status.Phase == corev1.PodPending {
						starting[name] = true
					}
				}
			})
		}
		var err error
		if rep, err = r.Run(ctx, w, o); err != nil {
			return nil, nil, err
		}
		if rep.Foreign == 0 || !hermetic.Enabled {
			l := logOf(g, rep)
			// Whether there was room for a pod is judged by how many addresses others have.
			l.Together = len(starting) > 0
			return l, rep, nil
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
	touches.Note(l, rep)
	wrote(l, rep)
	for i := range rep.Violations {
		v := &rep.Violations[i]
		l.Breaks = append(l.Breaks, por.Break{Step: v.Step, Invariant: v.Invariant, Message: v.Message})
	}
	return l
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
