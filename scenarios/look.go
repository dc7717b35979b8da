package scenarios

import (
	"context"
	"time"

	"ipamsim/model"
	"ipamsim/sim"
	"ipamsim/sim/cluster"
	"ipamsim/sim/ipam"
	"ipamsim/sim/strategy"
)

// View is what a scenario looks like before its first step: the truth, the record,
// the policy, the addresses that cannot be reached, and what is wrong.
type View = cluster.Sight

// Look opens a scenario's cluster and takes no step. What is wrong is judged by the
// invariants that judge runs, as if it had been so for ever; see cluster.Look.
//
// Pods that the timeline deletes at 0s are on their way out. Errors are those of Run.
func (r *Runner) Look(ctx context.Context, s *Scenario) (*View, error) {
	if err := s.clocks(); err != nil {
		return nil, err
	}
	adapter := adapters()[s.Doc.Spec.IPAM]
	run, err := r.begin(Memory)
	if err != nil {
		return nil, err
	}
	defer run.End()
	st, err := strategy.Parse("timed", 1, strategy.Settings{})
	if err != nil {
		return nil, err
	}
	var v *View
	_, err = sim.Run(ctx, sim.Options{Seed: 1, Strategy: st, Limits: sim.Limits{Wall: lookMax}}, func(w *sim.World) error {
		api, err := ipam.Serve(w, run, adapter)
		if err != nil {
			return err
		}
		w.Finish()
		v, err = cluster.Look(w, run, api, s.cluster(adapter, Options{}), s.leaving())
		return s.refused(err)
	})
	if err != nil {
		return nil, err
	}
	return v, nil
}

// lookMax is how long it may take to store what a scenario begins with: 100,000 pods
// take a minute.
const lookMax = 20 * time.Minute

// leaving are the pods that the timeline deletes before anything else happens.
func (s *Scenario) leaving() func(model.PodRef) bool {
	out, all := map[model.PodRef]bool{}, map[string]bool{}
	for _, e := range s.Doc.Spec.Timeline {
		if d := e.Delete; d != nil && e.At.Duration == 0 && d.Resource == "pods" {
			namespace := d.Namespace
			if namespace == "" {
				namespace = "default"
			}
			out[model.PodRef{Namespace: namespace, Name: d.Name}] = true
			all[namespace] = all[namespace] || d.All
		}
	}
	return func(p model.PodRef) bool { return out[p] || all[p.Namespace] }
}
