package kube

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	apiextv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
)

// Mapper maps every resource of the server. It is for clients that would use discovery
// (controller-runtime, kubectl's builders), which is not served.
func (s *Server) Mapper() meta.RESTMapper {
	var preferred []schema.GroupVersion
	for _, in := range builtins {
		preferred = append(preferred, in.gv)
	}
	slices.SortFunc(preferred, func(a, b schema.GroupVersion) int { return strings.Compare(a.String(), b.String()) })
	for _, d := range s.crds {
		for _, v := range d.Spec.Versions {
			preferred = append(preferred, schema.GroupVersion{Group: d.Spec.Group, Version: v.Name})
		}
	}
	m := meta.NewDefaultRESTMapper(slices.Compact(preferred))
	for _, plural := range slices.Sorted(maps.Keys(builtins)) {
		scope := meta.RESTScopeNamespace
		if clusterScoped[plural] {
			scope = meta.RESTScopeRoot
		}
		m.Add(kindOf(plural, builtins[plural].gv), scope)
	}
	for _, d := range s.crds {
		scope := meta.RESTScopeNamespace
		if d.Spec.Scope == apiextv1.ClusterScoped {
			scope = meta.RESTScopeRoot
		}
		singular := cmp.Or(d.Spec.Names.Singular, strings.ToLower(d.Spec.Names.Kind))
		for _, v := range d.Spec.Versions {
			if gv := (schema.GroupVersion{Group: d.Spec.Group, Version: v.Name}); v.Served {
				m.AddSpecific(gv.WithKind(d.Spec.Names.Kind), gv.WithResource(d.Spec.Names.Plural), gv.WithResource(singular), scope)
			}
		}
	}
	return m
}

// kindOf returns the kind of a resource of Kubernetes.
func kindOf(plural string, gv schema.GroupVersion) (kind schema.GroupVersionKind) {
	for name := range legacyscheme.Scheme.KnownTypes(gv) {
		if r, _ := meta.UnsafeGuessKindToResource(gv.WithKind(name)); r.Resource == plural {
			kind = gv.WithKind(name) // exactly one version matches
		}
	}
	return kind
}
