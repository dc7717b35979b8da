package dump

import (
	"encoding/json"

	"ipamsim/scenarios/dump/kept"
)

// witnesses are kinds that say which pods there are. A dump that has them is checked against
// them; the command that collects a dump does not ask for them.
var witnesses = []Resource{
	{APIVersion: "apps/v1", Kind: "ReplicaSet", add: (*Cluster).addReplicaSet},
	{APIVersion: "v1", Kind: "Endpoints", add: (*Cluster).addEndpoints},
	{APIVersion: "discovery.k8s.io/v1", Kind: "EndpointSlice", add: (*Cluster).addSlice},
	{APIVersion: "metrics.k8s.io/v1beta1", Kind: "PodMetrics", add: (*Cluster).addMetrics},
}

// Names notes that an object says that a pod, namespace/name, is there.
func (c *Cluster) Names(pod string) { c.alive[pod] = true }

// addReplicaSet counts the pods of one that no Deployment has: a Deployment counts its own.
func (c *Cluster) addReplicaSet(h *kept.Head, raw json.RawMessage) error {
	if h.Controlled() {
		return nil
	}
	return c.addWorkload(h, raw)
}

// target is what an endpoint is.
type target struct {
	Target struct{ Kind, Namespace, Name string } `json:"targetRef"`
}

func (c *Cluster) named(all []target, namespace string) {
	for _, t := range all {
		if x := t.Target; x.Kind == "Pod" && x.Name != "" {
			if x.Namespace == "" {
				x.Namespace = namespace
			}
			c.Names(x.Namespace + "/" + x.Name)
		}
	}
}

func (c *Cluster) addEndpoints(h *kept.Head, raw json.RawMessage) error {
	var o struct {
		Subsets []struct {
			Addresses, NotReadyAddresses []target
		} `json:"subsets"`
	}
	if err := json.Unmarshal(raw, &o); err != nil {
		return err
	}
	for _, s := range o.Subsets {
		c.named(s.Addresses, h.Metadata.Namespace)
		c.named(s.NotReadyAddresses, h.Metadata.Namespace)
	}
	return nil
}

func (c *Cluster) addSlice(h *kept.Head, raw json.RawMessage) error {
	var o struct {
		Endpoints []target `json:"endpoints"`
	}
	if err := json.Unmarshal(raw, &o); err != nil {
		return err
	}
	c.named(o.Endpoints, h.Metadata.Namespace)
	return nil
}

func (c *Cluster) addMetrics(h *kept.Head, _ json.RawMessage) error {
	c.Names(h.Key())
	return nil
}
