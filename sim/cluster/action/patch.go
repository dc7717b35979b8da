package action

import (
	"context"
	"encoding/json"
	"fmt"

	"ipamsim/sim/cluster"
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
func (a *Patch) Do(ctx context.Context, o *cluster.Operator) error {
	r, kind, err := kubeapi.ByName(o.Cluster.Kinds, a.Resource)
	if err != nil {
		return err
	}
	if k := o.Cluster.Keeps(kind); k != nil {
		verb, patch := ipam.Merge, any(a.Merge)
		if a.JSON != nil {
			verb, patch = ipam.JSON, a.JSON
		}
		body, err := json.Marshal(patch)
		if err != nil {
			return err
		}
		return k.Change(ctx, o.Gate, verb, cluster.Object{Kind: kind, Name: a.Name, Body: body})
	}
	path := r.Path(orDefault(a.Namespace), a.Name)
	if a.Subresource != "" {
		path += "/" + a.Subresource
	}
	if a.JSON != nil {
		return o.Client.Patch(ctx, path, kubeapi.JSONPatch, a.JSON)
	}
	return o.Client.Patch(ctx, path, kubeapi.MergePatch, a.Merge)
}

func (a *Patch) String() string {
	var p any = a.Merge
	if a.JSON != nil {
		p = a.JSON
	}
	b, _ := json.Marshal(p) // decoded from YAML, so it encodes
	return fmt.Sprintf("kubectl edit %s %s: %s", a.Resource, a.Name, b)
}

// Retypes reports whether the edit makes a Service one of another type, which users do
// without a thought of its addresses. What it asks of the manager is another matter: an
// address, a pool, a family.
func (a *Patch) Retypes() bool {
	spec, ok := a.Merge["spec"].(map[string]any)
	return ok && a.Resource == "services" && a.Subresource == "" && len(a.Merge) == 1 && spec["type"] != nil
}

// Deed names the resource, and what makes a Service one of another type by what it does.
func (a *Patch) Deed() string {
	if a.Retypes() {
		return "retype " + a.Resource
	}
	return "patch " + a.Resource
}
