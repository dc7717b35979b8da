package kube

import (
	"net/http/httptest"
	"testing"

	"github.com/emicklei/go-restful/v3"
	"k8s.io/apiserver/pkg/endpoints/request"
)

// Asked again and again, in any order, the router says what Kubernetes' own says.
func TestRoutes(t *testing.T) {
	ws := new(restful.WebService)
	ws.Path("/api/v1").Consumes("*/*", "application/json", "application/merge-patch+json").Produces("*/*")
	nothing := func(*restful.Request, *restful.Response) {}
	for method, paths := range map[string][]string{
		"GET": {
			"/pods", "/namespaces/{namespace}/pods", "/namespaces/{namespace}/pods/{name}", "/namespaces/{namespace}/pods/{name}/status",
			"/watch/pods", "/watch/namespaces/{namespace}/pods", "/watch/namespaces/{namespace}/pods/{name}", "/namespaces/{name}", "/nodes/{name}",
		},
		"POST":  {"/namespaces/{namespace}/pods", "/namespaces/{namespace}/pods/{name}/binding"},
		"PATCH": {"/namespaces/{namespace}/pods/{name}", "/namespaces/{namespace}/pods/{name}/status"},
	} {
		for _, p := range paths {
			ws.Route(ws.Method(method).Path(p).To(nothing))
		}
	}
	services := []*restful.WebService{ws}
	mine := &routes{chosen: map[route]choice{}}
	for range 3 {
		for _, c := range [][2]string{
			{"GET", "/api/v1/pods"}, {"GET", "/api/v1/pods?watch=1"}, {"GET", "/api/v1/namespaces/a/pods"}, {"GET", "/api/v1/watch/pods"},
			{"GET", "/api/v1/nodes/watch"}, {"GET", "/api/v1/namespaces/a/pods?fieldSelector=metadata.name=b"}, {"GET", "/api/v1/namespaces/a/pods/b"},
			{"GET", "/api/v1/namespaces/a/pods/b/status"}, {"GET", "/api/v1/namespaces/a"}, {"GET", "/api/v1/watch/namespaces/a/pods"},
			{"GET", "/api/v1/watch/namespaces/a/pods/b"}, {"POST", "/api/v1/namespaces/a/pods"}, {"POST", "/api/v1/namespaces/a/pods/b/binding"},
			{"PATCH", "/api/v1/namespaces/a/pods/b"}, {"PATCH", "/api/v1/namespaces/a/pods/b/status"}, {"PUT", "/api/v1/pods"}, {"GET", "/api/v1/nothing/of/that"},
		} {
			req := httptest.NewRequest(c[0], c[1], nil)
			info, err := requestInfo.NewRequestInfo(req)
			if err != nil {
				t.Fatal(err)
			}
			req = req.WithContext(request.WithRequestInfo(req.Context(), info))
			_, want, wantErr := restful.CurlyRouter{}.SelectRoute(services, req)
			_, got, err := mine.SelectRoute(services, req)
			if got != want && (got == nil || want == nil || got.Path != want.Path || got.Method != want.Method) || (err == nil) != (wantErr == nil) {
				t.Errorf("%v goes to %v (%v), want %v (%v)", c, got, err, want, wantErr)
			}
		}
	}
}
