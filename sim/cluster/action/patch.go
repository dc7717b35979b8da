package action

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"ipamsim/model"
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
	// JSON is a list of JSON-patch operations, Merge a merge patch. One of them must be set.
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

// Retypes reports whether the edit only changes the type of a Service, which users do without
// regard to its addresses. An edit that requests an address, a pool or a family is different.
func (a *Patch) Retypes() bool {
	spec, ok := a.Merge["spec"].(map[string]any)
	return ok && a.Resource == "services" && a.Subresource == "" && len(a.Merge) == 1 && spec["type"] != nil
}

var patch = described(define(Kind{
	Name: "patch", Class: model.OperatorAction,
	Doc: "kubectl edit or kubectl patch. Ordinary if it changes the type of a Service only.",
}, checkPatch), func(a *Patch, ref *model.ActionRef) {
	ref.Object = a.Resource
	if a.Retypes() {
		ref.Verb, ref.Class = "retype", model.Ordinary
	}
})

// jsonPatchOps are the operations of RFC 6902, and whether they need a value.
var jsonPatchOps = map[string]bool{"add": true, "copy": false, "move": false, "remove": false, "replace": true, "test": true}

func checkPatch(c Checker, a *Patch) {
	c.Resource(a.Resource, "resource")
	c.Object(a.Name, "name")
	c.Bad(a.Name == "", Part{"name"}, "an empty name")
	c.Bad(a.Subresource != "" && a.Subresource != "status" && a.Subresource != "scale", Part{"subresource"},
		"%s is not a subresource, want status or scale", c.Quote(a.Subresource))
	c.Bad((len(a.JSON) > 0) == (len(a.Merge) > 0), nil, "want either json (a list of operations) or merge (a part of the object)")
	for i, op := range a.JSON {
		part := func(field string) Part { return Part{"json", i, field} }
		name, _ := op["op"].(string)
		needs, known := jsonPatchOps[name]
		c.Bad(!known, part("op"), "%s is no operation, %s", c.Quote(name), c.Want(name, slices.Sorted(maps.Keys(jsonPatchOps))))
		where, ok := op["path"].(string)
		c.Bad(!ok || !strings.HasPrefix(where, "/"), part("path"), "want a path that begins with /, e.g. /spec/allocations/7")
		_, has := op["value"]
		c.Bad(needs && !has, part("value"), "missing, %s needs one", name)
	}
	if a.Resource == nodesResource && a.Name != "" {
		c.Node(a.Name, "name")
	}
}
