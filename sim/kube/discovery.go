package kube

import (
	"maps"
	"slices"

	discoveryv2 "k8s.io/api/apidiscovery/v2"
	apiextv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Discovery is what the server serves, as a client would find out by asking: by group
// and version, and in it by name. No request is made and no gate passed.
func (s *Server) Discovery() ([]*metav1.APIResourceList, error) {
	by := map[string]*metav1.APIResourceList{}
	add := func(gv schema.GroupVersion, r metav1.APIResource) {
		l := by[gv.String()]
		if l == nil {
			l = &metav1.APIResourceList{GroupVersion: gv.String()}
			by[gv.String()] = l
		}
		r.Group, r.Version = gv.Group, gv.Version
		l.APIResources = append(l.APIResources, r)
	}
	k := s.mux.kept.Load()
	for _, name := range slices.Sorted(maps.Keys(builtins)) {
		in := builtins[name]
		if k.serves[name] == nil { // no handler was built in this process
			if _, err := k.handler(name, in); err != nil {
				return nil, err
			}
		}
		for _, r := range k.serves[name] {
			add(in.gv, metav1.APIResource{Name: r.Resource, SingularName: r.SingularResource, Kind: r.ResponseKind.Kind,
				Namespaced: r.Scope == discoveryv2.ScopeNamespace, Verbs: r.Verbs})
		}
	}
	for _, c := range s.mux.crds {
		for _, v := range c.Spec.Versions {
			if v.Served {
				add(schema.GroupVersion{Group: c.Spec.Group, Version: v.Name}, metav1.APIResource{Name: c.Spec.Names.Plural,
					SingularName: c.Spec.Names.Singular, Kind: c.Spec.Names.Kind, Namespaced: c.Spec.Scope == apiextv1.NamespaceScoped, Verbs: customVerbs})
			}
		}
	}
	var out []*metav1.APIResourceList
	for _, gv := range slices.Sorted(maps.Keys(by)) {
		out = append(out, by[gv])
	}
	return out, nil
}

// customVerbs is what every custom resource can do.
//
// Source: apiextensions-apiserver, pkg/apiserver/customresource_discovery_controller.go (v0.34).
var customVerbs = metav1.Verbs{"delete", "deletecollection", "get", "list", "patch", "create", "update", "watch"}
