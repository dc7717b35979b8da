package evidence

import (
	"encoding/json"

	"ipamsim/scenarios/dump/kept"
)

// Names records that an object names a pod, namespace/name.
func (c *Book) Names(pod string) { c.alive[pod] = true }

// Named reports whether an object names a pod.
func (c *Book) Named(pod string) bool { return c.alive[pod] }

// Owns notes how many pods a controller, KIND NAMESPACE/NAME, has by its status.
func (c *Book) Owns(controller string, pods int) { c.pods[controller] = pods }

// Witness takes an object that names pods. A dump is checked against these; the command that collects a
// dump does not ask for them.
func (c *Book) Witness(h *kept.Head, raw json.RawMessage) (ok bool, err error) {
	switch Key(h.Kind, h.Group()) {
	case "ReplicaSet.apps":
		w, _, err := kept.WorkloadOf(raw)
		if err == nil && !h.Controlled() { // a Deployment counts its own
			c.Owns(h.Kind+" "+h.Key(), w.Pods)
		}
		return true, err
	case "Endpoints":
		return true, c.addEndpoints(h, raw)
	case "EndpointSlice.discovery.k8s.io":
		return true, c.addSlice(h, raw)
	case "PodMetrics.metrics.k8s.io":
		c.Names(h.Key())
		return true, nil
	}
	return false, nil
}

// target is what an endpoint is.
type target struct {
	Target struct{ Kind, Namespace, Name string } `json:"targetRef"`
}

func (c *Book) named(all []target, namespace string) {
	for _, t := range all {
		if x := t.Target; x.Kind == "Pod" && x.Name != "" {
			if x.Namespace == "" {
				x.Namespace = namespace
			}
			c.Names(x.Namespace + "/" + x.Name)
		}
	}
}

func (c *Book) addEndpoints(h *kept.Head, raw json.RawMessage) error {
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

func (c *Book) addSlice(h *kept.Head, raw json.RawMessage) error {
	var o struct {
		Endpoints []target `json:"endpoints"`
	}
	if err := json.Unmarshal(raw, &o); err != nil {
		return err
	}
	c.named(o.Endpoints, h.Metadata.Namespace)
	return nil
}
