package kube

import (
	"cmp"
	"maps"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/emicklei/go-restful/v3"
	discoveryv2 "k8s.io/api/apidiscovery/v2"
	apiextv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Served lists what the server serves. It needs no request and passes no gate; it may be used
// outside of the run's bubble, and after it.
type Served struct {
	// Groups are the groups of the API with their versions, both sorted by name, and the
	// resources of each: built-in ones by plural, then custom ones.
	Groups []discoveryv2.APIGroupDiscovery
	// Routes are the requests that built-in resources accept, by group and version.
	Routes map[schema.GroupVersion][]*restful.WebService
	// Custom are the established definitions of custom resources.
	Custom []*apiextv1.CustomResourceDefinition
}

// Served returns what discovery would report to clients.
func (s *Server) Served() (Served, error) {
	out := Served{Routes: map[schema.GroupVersion][]*restful.WebService{}}
	by := map[schema.GroupVersion][]discoveryv2.APIResourceDiscovery{}
	k := s.mux.kept.Load()
	for _, name := range slices.Sorted(maps.Keys(builtins)) {
		in := builtins[name]
		h, err := k.says(name, in)
		if err != nil {
			return Served{}, err
		}
		by[in.gv] = append(by[in.gv], h.discovery...)
		out.Routes[in.gv] = append(out.Routes[in.gv], h.routes...)
	}
	for _, c := range s.mux.crds {
		e := established(c)
		out.Custom = append(out.Custom, e)
		for i := range e.Spec.Versions {
			if v := &e.Spec.Versions[i]; v.Served {
				gv := schema.GroupVersion{Group: e.Spec.Group, Version: v.Name}
				by[gv] = append(by[gv], custom(e, v))
			}
		}
	}
	groups := map[string][]discoveryv2.APIVersionDiscovery{}
	for _, gv := range slices.SortedFunc(maps.Keys(by), func(a, b schema.GroupVersion) int { return strings.Compare(a.String(), b.String()) }) {
		groups[gv.Group] = append(groups[gv.Group], discoveryv2.APIVersionDiscovery{
			Version: gv.Version, Resources: by[gv], Freshness: discoveryv2.DiscoveryFreshnessCurrent,
		})
	}
	for _, g := range slices.Sorted(maps.Keys(groups)) {
		out.Groups = append(out.Groups, discoveryv2.APIGroupDiscovery{ObjectMeta: metav1.ObjectMeta{Name: g}, Versions: groups[g]})
	}
	return out, nil
}

// custom returns the discovery information of one version of a custom resource.
//
// Source: apiextensions-apiserver, pkg/apiserver/customresource_discovery_controller.go (v0.37.2).
func custom(c *apiextv1.CustomResourceDefinition, v *apiextv1.CustomResourceDefinitionVersion) discoveryv2.APIResourceDiscovery {
	names := c.Status.AcceptedNames
	kind := &metav1.GroupVersionKind{Group: c.Spec.Group, Version: v.Name, Kind: names.Kind}
	scope := discoveryv2.ScopeCluster
	if c.Spec.Scope == apiextv1.NamespaceScoped {
		scope = discoveryv2.ScopeNamespace
	}
	r := discoveryv2.APIResourceDiscovery{
		Resource: names.Plural, SingularResource: names.Singular, ResponseKind: kind, Scope: scope,
		ShortNames: names.ShortNames, Categories: names.Categories, Verbs: customVerbs,
	}
	if v.Subresources != nil && v.Subresources.Status != nil {
		r.Subresources = append(r.Subresources, discoveryv2.APISubresourceDiscovery{Subresource: "status", ResponseKind: kind, Verbs: metav1.Verbs{"get", "patch", "update"}})
	}
	return r
}

// Discovery returns the lists of Served: see Served.Lists.
func (s *Server) Discovery() ([]*metav1.APIResourceList, error) {
	served, err := s.Served()
	if err != nil {
		return nil, err
	}
	return served.Lists(), nil
}

// Lists returns the resources of each group and version, sorted by these, without
// subresources.
func (s Served) Lists() (out []*metav1.APIResourceList) {
	for _, g := range s.Groups {
		for _, v := range g.Versions {
			gv := schema.GroupVersion{Group: g.Name, Version: v.Version}
			l := &metav1.APIResourceList{GroupVersion: gv.String()}
			for _, r := range v.Resources {
				l.APIResources = append(l.APIResources, metav1.APIResource{
					Name: r.Resource, SingularName: r.SingularResource, Group: gv.Group, Version: gv.Version, Kind: r.ResponseKind.Kind,
					Namespaced: r.Scope == discoveryv2.ScopeNamespace, Verbs: r.Verbs, ShortNames: r.ShortNames, Categories: r.Categories,
				})
			}
			out = append(out, l)
		}
	}
	slices.SortFunc(out, func(a, b *metav1.APIResourceList) int { return cmp.Compare(a.GroupVersion, b.GroupVersion) })
	return out
}

// Version returns the release of the linked Kubernetes handlers, "v1.37.2"; "" if the build
// information lacks it, as in every test.
func Version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	for _, m := range info.Deps {
		if m.Path == "k8s.io/kubernetes" {
			return m.Version
		}
	}
	return ""
}

// customVerbs are the verbs of every custom resource.
//
// Source: apiextensions-apiserver, pkg/apiserver/customresource_discovery_controller.go (v0.37.2).
var customVerbs = metav1.Verbs{"delete", "deletecollection", "get", "list", "patch", "create", "update", "watch"}
