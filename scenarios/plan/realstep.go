package plan

import (
	"encoding/json"
	"slices"

	"ipamsim/model/capacity"
	"ipamsim/model/reference/calico"
	"ipamsim/scenarios"
	"ipamsim/sim/cluster"
)

// calicoAPI is what calicoctl and Calico's API server write: both check it.
const calicoAPI = "projectcalico.org/v3"

// event is a step as an operator takes it; some is false for one that is only the
// restart of pods.
func (s *step) event() (e scenarios.Event, some bool) {
	switch s.Kind {
	case capacity.CreatePool:
		e.Apply = &cluster.Apply{Object: viaAPI(s.object.Body)}
	case capacity.DisablePool:
		e.Patch = &cluster.Patch{Resource: "ippools.crd.projectcalico.org", Name: s.Pool.Name, Merge: body{"spec": body{"disabled": true}}}
	case capacity.DeletePool:
		e.Command = &cluster.Command{Run: "calicoctl delete ippool " + s.Pool.Name}
	case capacity.Configure:
		e.Apply = &cluster.Apply{Object: s.object.Body}
	case capacity.RestartPods:
		return e, false
	}
	return e, true
}

// viaAPI is a manifest as Calico's API server takes it.
func viaAPI(manifest json.RawMessage) json.RawMessage {
	b := body{}
	if json.Unmarshal(manifest, &b) != nil {
		return manifest // loading has refused it
	}
	b["apiVersion"] = calicoAPI
	meta := under(b, "metadata")
	b["metadata"] = body{"name": meta["name"]}
	out, err := json.Marshal(b)
	if err != nil {
		return manifest
	}
	return out
}

// tunnelled reports whether nodes have devices of pools that the migration is about.
func tunnelled(c *capacity.Cluster) bool {
	of := func(p calico.Pool) bool { return p.IPIP || p.VXLAN }
	return c.Calico.Tunnels && (slices.ContainsFunc(c.Calico.Pools, of) ||
		slices.ContainsFunc(c.Migration, func(s capacity.Step) bool { return of(s.Pool) }))
}
