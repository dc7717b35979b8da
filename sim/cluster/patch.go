package cluster

import (
	"context"
	"encoding/json"
	"fmt"

	"ipamsim/sim/cluster/kubeapi"
	"ipamsim/sim/ipam"
)

// Patch edits an object: kubectl edit, or kubectl patch.
type Patch struct {
	Resource    string `json:"resource" jsonschema:"required"`
	Namespace   string `json:"namespace,omitempty"` // default: default
	Name        string `json:"name" jsonschema:"required"`
	Subresource string `json:"subresource,omitempty"`
	// JSON is a list of JSON-patch operations, Merge a merge patch; one of them.
	JSON  []map[string]any `json:"json,omitempty"`
	Merge map[string]any   `json:"merge,omitempty"`
}

// Do runs kubectl patch.
func (a *Patch) Do(ctx context.Context, o *Operator) error {
	r, kind, err := kubeapi.ByName(o.c.kinds, a.Resource)
	if err != nil {
		return err
	}
	if k := o.c.keeps(kind); k != nil {
		verb, patch := ipam.Merge, any(a.Merge)
		if a.JSON != nil {
			verb, patch = ipam.JSON, a.JSON
		}
		body, err := json.Marshal(patch)
		if err != nil {
			return err
		}
		return k.Change(ctx, o.gate, verb, Object{Kind: kind, Name: a.Name, Body: body})
	}
	path := r.Path(orDefault(a.Namespace), a.Name)
	if a.Subresource != "" {
		path += "/" + a.Subresource
	}
	if a.JSON != nil {
		return o.client.Patch(ctx, path, kubeapi.JSONPatch, a.JSON)
	}
	return o.client.Patch(ctx, path, kubeapi.MergePatch, a.Merge)
}

func (a *Patch) String() string {
	var p any = a.Merge
	if a.JSON != nil {
		p = a.JSON
	}
	b, _ := json.Marshal(p) // decoded from YAML, so it encodes
	return fmt.Sprintf("kubectl edit %s %s: %s", a.Resource, a.Name, b)
}
