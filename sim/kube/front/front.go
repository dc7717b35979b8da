// Package front answers the requests that clients make before they read objects: resources
// (discovery), schemas (OpenAPI), version and health. It runs Kubernetes' own handlers over a
// kube.Served, and needs no bubble.
package front

import (
	"encoding/json"
	"net/http"
	"strings"
	"sync"

	discoveryv2 "k8s.io/api/apidiscovery/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/version"
	"k8s.io/apiserver/pkg/endpoints/discovery"
	"k8s.io/apiserver/pkg/endpoints/discovery/aggregated"
	"k8s.io/kubernetes/pkg/api/legacyscheme"

	"ipamsim/sim/kube"
)

// Handler serves every path except resources, which get 404.
func Handler(s kube.Served) http.Handler {
	mux := http.NewServeMux()
	legacy, root := aggregated.NewResourceManager("api"), aggregated.NewResourceManager("apis")
	groups := discovery.NewRootAPIsHandler(discovery.DefaultAddresses{}, legacyscheme.Codecs)
	for _, g := range s.Groups {
		for _, v := range g.Versions {
			gv := schema.GroupVersion{Group: g.Name, Version: v.Version}
			mux.Handle("/"+path(gv), discovery.NewAPIVersionHandler(legacyscheme.Codecs, gv, discovery.APIResourceListerFunc(func() []metav1.APIResource { return resources(v) })))
			if g.Name == "" {
				legacy.AddGroupVersion(g.Name, v)
			} else {
				root.AddGroupVersion(g.Name, v)
			}
		}
		if g.Name != "" {
			old := group(g)
			groups.AddGroup(old)
			mux.Handle("/apis/"+g.Name, discovery.NewAPIGroupHandler(legacyscheme.Codecs, old))
		}
	}
	versions := discovery.NewLegacyRootAPIHandler(discovery.DefaultAddresses{}, legacyscheme.Codecs, "/api")
	mux.Handle("/api", aggregated.WrapAggregatedDiscoveryToHandler(versions, legacy, nil))
	mux.Handle("/apis", aggregated.WrapAggregatedDiscoveryToHandler(groups, root, nil))
	mux.HandleFunc("/version", serveVersion)
	for _, p := range []string{"/healthz", "/livez", "/readyz"} {
		mux.HandleFunc(p, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("ok")) })
	}
	schemas := sync.OnceValue(func() http.Handler { return openAPI(s) }) // takes a second, and few clients need it
	mux.HandleFunc("/openapi/", func(w http.ResponseWriter, r *http.Request) { schemas().ServeHTTP(w, r) })
	return trimmed{mux}
}

// trimmed serves a path with a trailing slash as the path without.
type trimmed struct{ http.Handler }

func (t trimmed) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if p := strings.TrimRight(r.URL.Path, "/"); p != r.URL.Path && p != "" {
		r = r.Clone(r.Context())
		r.URL.Path = p
	}
	t.Handler.ServeHTTP(w, r)
}

// path returns the path of a version's resources: "api/v1", "apis/apps/v1".
func path(gv schema.GroupVersion) string {
	if gv.Group == "" {
		return "api/" + gv.Version
	}
	return "apis/" + gv.String()
}

// group returns an API group for clients without aggregated discovery.
func group(g discoveryv2.APIGroupDiscovery) metav1.APIGroup {
	out := metav1.APIGroup{Name: g.Name}
	for _, v := range g.Versions {
		out.Versions = append(out.Versions, metav1.GroupVersionForDiscovery{GroupVersion: g.Name + "/" + v.Version, Version: v.Version})
	}
	out.PreferredVersion = out.Versions[0]
	return out
}

// resources returns those of a version with their subresources, for such clients.
func resources(v discoveryv2.APIVersionDiscovery) (out []metav1.APIResource) {
	for _, r := range v.Resources {
		in := r.Scope == discoveryv2.ScopeNamespace
		out = append(out, metav1.APIResource{
			Name: r.Resource, SingularName: r.SingularResource, Namespaced: in, Kind: r.ResponseKind.Kind, Verbs: r.Verbs, ShortNames: r.ShortNames, Categories: r.Categories,
		})
		for _, sub := range r.Subresources {
			one := metav1.APIResource{Name: r.Resource + "/" + sub.Subresource, Namespaced: in, Verbs: sub.Verbs}
			if k := sub.ResponseKind; k != nil {
				one.Kind = k.Kind
				if k.Group != r.ResponseKind.Group || k.Version != r.ResponseKind.Version {
					one.Group, one.Version = k.Group, k.Version
				}
			}
			out = append(out, one)
		}
	}
	return out
}

// serveVersion serves the version.
func serveVersion(w http.ResponseWriter, _ *http.Request) {
	v := kube.Version()
	parts := strings.Split(strings.TrimPrefix(v, "v")+"..", ".")
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(version.Info{Major: parts[0], Minor: parts[1], GitVersion: v, Platform: "ipamsim"})
}
