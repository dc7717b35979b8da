package calico

import (
	"encoding/json"
	"slices"

	"ipamsim/model/capacity/calico"
	"ipamsim/model/capacity/workload"
	"ipamsim/scenarios"
	"ipamsim/scenarios/plan"
	"ipamsim/sim/cluster"
	"ipamsim/sim/cluster/action"
)

// moves is the way from the pools and the configuration of a cluster that runs to others.
func moves(m plan.Move) ([]plan.Step, error) {
	old, err := livePools(m.From)
	if err != nil {
		return nil, err
	}
	target, err := livePools(m.To)
	if err != nil {
		return nil, err
	}
	steps, err := draft{m.Draft}.migration(old, target, m.From.Objects)
	if err != nil {
		return nil, err
	}
	if is := calico.Of(m.Is).Settings; is != calico.Of(m.Was).Settings {
		i := slices.IndexFunc(m.To.Objects, func(o cluster.Object) bool { return o.Kind == configKind || o.Kind == configKindV3 })
		steps = slices.Insert(steps, 0, plan.Step{
			Step:   workload.Step{Kind: calico.Configure, Change: calico.Change{Settings: is}},
			Events: []scenarios.Event{{Action: &action.Apply{Object: m.To.Objects[i].Body}}},
		})
	}
	return steps, nil
}

// calicoAPI is what calicoctl and Calico's API server write: both check it.
const calicoAPI = "projectcalico.org/v3"

// operate is what an operator does with a pool.
func operate(kind workload.StepKind, p *livePool) ([]scenarios.Event, error) {
	switch kind {
	case calico.CreatePool:
		o, err := p.manifest.close()
		return []scenarios.Event{{Action: &action.Apply{Object: viaAPI(o.Body)}}}, err
	case calico.DisablePool:
		return []scenarios.Event{patched("ippools", p.Name, plan.Body{"disabled": true})}, nil
	}
	return []scenarios.Event{{Action: &action.Command{Run: "calicoctl delete ippool " + p.Name}}}, nil
}

func patched(resource, name string, spec plan.Body) scenarios.Event {
	return scenarios.Event{Action: &action.Patch{Resource: resource + ".crd.projectcalico.org", Name: name, Merge: plan.Body{"spec": spec}}}
}

// viaAPI is a manifest as Calico's API server takes it.
func viaAPI(manifest json.RawMessage) json.RawMessage {
	b := plan.Body{}
	if json.Unmarshal(manifest, &b) != nil {
		return manifest // loading has refused it
	}
	b["apiVersion"] = calicoAPI
	meta := plan.Under(b, "metadata")
	b["metadata"] = plan.Body{"name": meta["name"]}
	out, err := json.Marshal(b)
	if err != nil {
		return manifest
	}
	return out
}
