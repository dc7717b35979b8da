package plan

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"ipamsim/model"
	"ipamsim/model/capacity"
	"ipamsim/model/reference/calico"
	"ipamsim/scenarios"
	"ipamsim/sim/cluster/action"
)

// calicoAPI is what calicoctl and Calico's API server write: both check it.
const calicoAPI = "projectcalico.org/v3"

// events are a step as an operator takes it; none for one that is only the restart of
// pods.
func (s *step) events() []scenarios.Event {
	switch s.Kind {
	case capacity.CreatePool:
		return []scenarios.Event{{Apply: &action.Apply{Object: viaAPI(s.object.Body)}}}
	case capacity.DisablePool:
		return []scenarios.Event{{Patch: patched("ippools", s.Pool.Name, body{"disabled": true})}}
	case capacity.DeletePool:
		return []scenarios.Event{{Command: &action.Command{Run: "calicoctl delete ippool " + s.Pool.Name}}}
	case capacity.Configure:
		return []scenarios.Event{{Apply: &action.Apply{Object: s.object.Body}}}
	case capacity.TypeAffinities:
		var out []scenarios.Event
		for _, o := range s.changed {
			out = append(out, scenarios.Event{Patch: patched("blockaffinities", o.Name, body{"type": "host"})})
		}
		return out
	case capacity.RestartPods:
	}
	return nil
}

func patched(resource, name string, spec body) *action.Patch {
	return &action.Patch{Resource: resource + ".crd.projectcalico.org", Name: name, Merge: body{"spec": spec}}
}

// try is a step that an operator takes, and whether the reference refuses it.
type try struct {
	at      time.Duration
	step    int32
	refused bool
}

// astray says where a step of the real code ended otherwise than the reference's, so
// that what comes after it is not what an operator would do.
func (s *script) astray(h *model.History) string {
	said := map[time.Duration]string{}
	for i := range h.Events {
		if e := &h.Events[i]; e.Kind == model.Operator && e.Err != "" {
			for _, x := range s.tries {
				if e.At >= x.at && e.At < x.at+2*time.Second {
					said[x.at] = e.Err
				}
			}
		}
	}
	for _, x := range s.tries {
		if why := said[x.at]; (why != "") != x.refused {
			return fmt.Sprintf("step %d of the migration, at %s, is refused by one engine and not by the other: %q by the real code", x.step+1, x.at, why)
		}
	}
	return ""
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
