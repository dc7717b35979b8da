package scenarios

import (
	"cmp"
	"context"
	"time"

	"ipamsim/model"
	"ipamsim/sim"
	"ipamsim/sim/cluster"
	"ipamsim/sim/cluster/action"
	"ipamsim/sim/cluster/checker"
	"ipamsim/sim/strategy"
)

// View is the state of a scenario before its first step: the truth, the record, the policy, the
// addresses that cannot be reached, and the violations.
type View = checker.Snapshot

// Inspect returns the state of a scenario without running a step or storing anything. The invariants
// that judge runs judge it, as if it had always been like this; see cluster.CheckManifests. Pods that the
// timeline deletes at 0s are terminating.
func (r *Runner) Inspect(ctx context.Context, s *Scenario) (*View, error) {
	if err := s.clocks(); err != nil {
		return nil, err
	}
	st, err := strategy.Parse("timed", 1, strategy.Settings{})
	if err != nil {
		return nil, err
	}
	var v *View
	_, err = sim.Run(ctx, sim.Options{Seed: 1, Strategy: st, Limits: sim.Limits{Stuck: inspectMax}}, func(w *sim.World) error {
		w.Finish()
		var err error
		v, err = cluster.CheckManifests(w, s.cluster(Options{}), s.leaving())
		return s.refused(err)
	})
	if err != nil {
		return nil, err
	}
	return v, nil
}

// inspectMax bounds the time of an inspection: 100,000 pods take some seconds.
const inspectMax = 20 * time.Minute

// leaving are the pods that the timeline deletes before anything else happens.
func (s *Scenario) leaving() func(model.PodRef) bool {
	out, all := map[model.PodRef]bool{}, map[string]bool{}
	for _, e := range s.Doc.Spec.Timeline {
		if d, ok := e.Action.(*action.Delete); ok && e.At.Duration == 0 && d.Resource == "pods" {
			namespace := cmp.Or(d.Namespace, "default")
			out[model.PodRef{Namespace: namespace, Name: d.Name}] = true
			all[namespace] = all[namespace] || d.All
		}
	}
	return func(p model.PodRef) bool { return out[p] || all[p.Namespace] }
}
