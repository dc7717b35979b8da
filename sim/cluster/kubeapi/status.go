package kubeapi

import (
	"context"
	"encoding/json"

	"ipamsim/sim/ipam"
)

// StoreStatus writes the status of a pod's manifest, which the API server drops when it
// creates the pod.
func StoreStatus(ctx context.Context, cl Client, o ipam.Object) error {
	var m struct {
		Status map[string]json.RawMessage `json:"status"`
	}
	if err := json.Unmarshal(o.Body, &m); err != nil || len(m.Status) == 0 {
		return err
	}
	return cl.Patch(ctx, Pods.Path(o.Namespace, o.Name)+"/status", MergePatch, m)
}
