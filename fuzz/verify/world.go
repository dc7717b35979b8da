// Package verify covers every schedule of a scenario within bounds. Partial-order reduction (sim/por)
// determines the runs; they take place in processes of their own, and are stored in a directory, so that
// a search can be resumed.
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

// Instant is the granularity of time: messages that timers send within an Instant wait together. It is
// far longer than the nanoseconds of consecutive steps, and shorter than any timeout.
const Instant = time.Millisecond

// World returns a scenario with the given limit of faults, and with simple controllers unless it
// specifies otherwise: Kubernetes' own controllers send ten times as many messages, whose order
// does not affect addresses.
func World(s *scenarios.Scenario, faults int) *scenarios.Scenario {
	w := *s.WithSimpleControllers()
	w.Doc.Spec.Faults.Max = faults
	w.Doc.Spec.Schedule = nil
	return &w
}

// RunPlan runs a scenario according to a plan; o are the caller's options for the run.
func RunPlan(ctx context.Context, r *scenarios.Runner, w *scenarios.Scenario, p por.Plan, o scenarios.Options) (*por.Log, *reports.Report, error) {
	o.Store, o.Instant = scenarios.Memory, Instant
	var rep *reports.Report
	for n := 1; ; n++ {
		g := por.NewGuide(p, w.Faults())
		o.Walk = g
		starting := map[string]bool{} // pods that are not running yet
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
			// Whether a pod could get an address depends on the number of addresses of all others.
			l.Together = len(starting) > 0
			return l, rep, nil
		}
		if n == wakesMax {
			return nil, nil, fmt.Errorf("%d wake-ups from outside the bubble: the run may not repeat", rep.Foreign)
		}
	}
}

// wakesMax is how often a run that was disturbed from outside is repeated. About one run in a thousand
// is disturbed.
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

// first returns the first violation of a run that matters, nil if there is none.
func first(rep *reports.Report, matters func(invariant string) bool) *model.Violation {
	for i := range rep.Violations {
		if v := &rep.Violations[i]; matters(v.Invariant) {
			return v
		}
	}
	return nil
}
