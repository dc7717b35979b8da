package kubeapi

import (
	"encoding/json"
	"maps"
	"slices"

	"ipamsim/sim/ipam"
)

// WithNamespaces adds the namespaces of objects that have no manifest. With ordered a
// namespace precedes the objects in it, wherever its manifest stands: Kubernetes' own API
// server refuses the other order.
func WithNamespaces(objs []ipam.Object, ordered bool) []ipam.Object {
	all := append(missingNamespaces(objs), objs...)
	if ordered {
		return namespacesFirst(all)
	}
	return all
}

func namespacesFirst(objs []ipam.Object) []ipam.Object {
	isNamespace := func(o ipam.Object) bool { return o.Kind == "Namespace" }
	rest := slices.DeleteFunc(slices.Clone(objs), isNamespace)
	first := slices.DeleteFunc(slices.Clone(objs), func(o ipam.Object) bool { return !isNamespace(o) })
	return append(first, rest...)
}

// missingNamespaces are the namespaces of objects without a manifest of their own. A cluster has
// them, and the CNI plugin of a primary network reads them.
func missingNamespaces(objs []ipam.Object) []ipam.Object {
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
