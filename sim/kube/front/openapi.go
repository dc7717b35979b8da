package front

import (
	"maps"
	"net/http"

	"github.com/emicklei/go-restful/v3"
	"k8s.io/apiextensions-apiserver/pkg/apiserver"
	"k8s.io/apiextensions-apiserver/pkg/controller/openapi/builder"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/endpoints/openapi"
	"k8s.io/apiserver/pkg/server"
	"k8s.io/kube-openapi/pkg/builder3"
	"k8s.io/kube-openapi/pkg/common/restfuladapter"
	"k8s.io/kube-openapi/pkg/handler3"
	"k8s.io/kube-openapi/pkg/spec3"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	generated "k8s.io/kubernetes/pkg/generated/openapi"

	"ipamsim/sim/kube"
)

// openAPI serves OpenAPI version 3, by group and version, built as kube-apiserver builds it.
// Version 2 is absent: kubectl requests it only if version 3 is missing.
func openAPI(s kube.Served) http.Handler {
	service := handler3.NewOpenAPIService()
	conf := server.DefaultOpenAPIV3Config(generated.GetOpenAPIDefinitions, openapi.NewDefinitionNamer(legacyscheme.Scheme, apiserver.Scheme))
	conf.Info.Title, conf.Info.Version = "Kubernetes", kube.Version()
	all := map[schema.GroupVersion]*spec3.OpenAPI{}
	for gv, routes := range s.Routes {
		for _, r := range routes { // one by one: each has the route of the version's resources
			if spec, err := builder3.BuildOpenAPISpecFromRoutes(restfuladapter.AdaptWebServices([]*restful.WebService{r}), conf); err == nil {
				all[gv] = both(all[gv], spec)
			}
		}
	}
	for _, c := range s.Custom {
		for _, v := range c.Spec.Versions {
			gv := schema.GroupVersion{Group: c.Spec.Group, Version: v.Name}
			if spec, err := builder.BuildOpenAPIV3(c, v.Name, builder.Options{}); err == nil && v.Served {
				all[gv] = both(all[gv], spec)
			}
		}
	}
	for gv, spec := range all {
		service.UpdateGroupVersion(path(gv), spec)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/openapi/v3", service.HandleDiscovery)
	mux.HandleFunc("/openapi/v3/", service.HandleGroupVersion)
	return mux
}

// both merges the schemas of two resources of a version. Shared definitions, such as
// ObjectMeta, are the same.
func both(a, b *spec3.OpenAPI) *spec3.OpenAPI {
	if a == nil {
		return b
	}
	maps.Copy(a.Paths.Paths, b.Paths.Paths)
	maps.Copy(a.Components.Schemas, b.Components.Schemas)
	return a
}
