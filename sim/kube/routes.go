package kube

import (
	"net/http"
	"strings"
	"sync"

	"github.com/emicklei/go-restful/v3"
	"k8s.io/apiserver/pkg/endpoints/request"
)

// routes caches the handler that Kubernetes' own router chooses for a kind of request to a
// resource: the choice depends on nothing else, and searching all routes of a resource takes a
// tenth of a short request.
type routes struct {
	restful.CurlyRouter

	mu     sync.Mutex
	chosen map[route]choice
}

// route is the router's input: the form of the path, without its names.
type route struct {
	method, subresource, sends, accepts string
	namespaced, watch                   bool // "watch" may be a part of the path
	parts                               int
}

type choice struct {
	service *restful.WebService
	route   *restful.Route
}

// SelectRoute implements restful.RouteSelector.
func (r *routes) SelectRoute(services []*restful.WebService, req *http.Request) (*restful.WebService, *restful.Route, error) {
	info, ok := request.RequestInfoFrom(req.Context())
	if !ok || !info.IsResourceRequest {
		return r.CurlyRouter.SelectRoute(services, req)
	}
	key := route{
		method: req.Method, subresource: info.Subresource, sends: req.Header.Get("Content-Type"), accepts: req.Header.Get("Accept"),
		namespaced: info.Namespace != "", watch: info.Verb == "watch", parts: strings.Count(req.URL.Path, "/"),
	}
	r.mu.Lock()
	c, ok := r.chosen[key]
	r.mu.Unlock()
	if ok {
		return c.service, c.route, nil
	}
	service, chosen, err := r.CurlyRouter.SelectRoute(services, req)
	if err == nil {
		r.mu.Lock()
		r.chosen[key] = choice{service, chosen}
		r.mu.Unlock()
	}
	return service, chosen, err
}

// ExtractParameters implements restful.PathProcessor. Kubernetes' handlers take the names in a
// path from the RequestInfo.
func (*routes) ExtractParameters(*restful.Route, *restful.WebService, string) map[string]string {
	return nil
}
