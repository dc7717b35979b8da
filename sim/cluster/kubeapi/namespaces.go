package kubeapi

import (
	"encoding/json"
	"maps"
	"slices"

	"ipamsim/sim/ipam"
)

// MissingNamespaces are those that objects live in and that have no manifest. A
// cluster has them; the CNI plugin of a primary network asks for them.
func MissingNamespaces(objs []ipam.Object) []ipam.Object {
	want := map[string]bool{"default": true, "kube-system": true}
	for _, o := range objs {
		if o.Namespace != "" {
			want[o.Namespace] = true
		}
	}
	for _, o := range objs {
		if o.Kind == "Namespace" {
			delete(want, o.Name)
		}
	}
	var out []ipam.Object
	for _, name := range slices.Sorted(maps.Keys(want)) {
		body := `{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"` + name + `","labels":{"kubernetes.io/metadata.name":"` + name + `"}}}`
		out = append(out, ipam.Object{Kind: "Namespace", Name: name, Body: json.RawMessage(body)})
	}
	return out
}
