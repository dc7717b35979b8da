package main

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"strings"

	apiextv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apiserver/pkg/endpoints/request"

	"ipamsim/scenarios"
	"ipamsim/sim/kube"
)

// recording is what a run asked its API server, in the order of the answers.
type recording struct {
	scenario string
	// controlled says that Kubernetes' own controllers ran, for whom there is admission.
	controlled bool
	crds       []*apiextv1.CustomResourceDefinition
	messages   []*exchange
}

// exchange is a message with what its path says.
type exchange struct {
	*kube.Message
	method, path, verb, resource, subresource, namespace, name string
}

// record runs a scenario as it says itself.
func record(ctx context.Context, r *scenarios.Runner, s *scenarios.Scenario, datastore string) (*recording, error) {
	out := &recording{scenario: s.Name()}
	o := scenarios.Options{Store: scenarios.Memory, Datastore: datastore, Recorded: s.Doc.Spec.Schedule != nil}
	var bad error
	var server *kube.Server
	o.Served = func(api *kube.Server) {
		server = api
		served, err := api.Served()
		if err != nil {
			bad = err
		}
		out.crds = served.Custom
		api.Tap(func(m *kube.Message) {
			e, err := parsed(m)
			if err != nil {
				bad = err
				return
			}
			out.messages = append(out.messages, e)
		})
	}
	if _, err := r.Run(ctx, s, o); err != nil {
		return nil, err
	}
	if bad != nil {
		return nil, fmt.Errorf("%s: %w", s.Name(), bad)
	}
	out.controlled = server.Controlled()
	return out, nil
}

var paths = &request.RequestInfoFactory{APIPrefixes: sets.NewString("api", "apis"), GrouplessAPIPrefixes: sets.NewString("api")}

func parsed(m *kube.Message) (*exchange, error) {
	req, err := http.NewRequest(m.Method, "http://sim"+m.URI, nil)
	if err != nil {
		return nil, err
	}
	i, err := paths.NewRequestInfo(req)
	if err != nil {
		return nil, err
	}
	e := &exchange{Message: m, method: m.Method, path: req.URL.Path, verb: i.Verb, resource: i.Resource, subresource: i.Subresource, namespace: i.Namespace, name: i.Name}
	if tree, err := decode(kube.JSON(m.Body)); err == nil && e.name == "" {
		e.name = field(tree, "metadata", "name")
	}
	return e, nil
}

// asJSON is a content type, or what is accepted, without protobuf.
func asJSON(kind string) string {
	return strings.ReplaceAll(kind, "application/vnd.kubernetes.protobuf", "application/json")
}

// answer is the answer as JSON.
func (m *exchange) answer() (any, error) {
	tree, err := decode(kube.JSON(m.Answer))
	if l, ok := tree.(map[string]any); ok && bytes.HasPrefix(m.Answer, []byte("k8s\x00")) {
		if items, ok := l["items"]; ok && items == nil {
			l["items"] = []any{} // in protobuf an empty list is none
		}
	}
	return tree, err
}

// there reports whether a run creates what a real server has from the beginning.
func (m *exchange) there() bool {
	if m.verb != "create" || m.subresource != "" {
		return false
	}
	return m.resource == "namespaces" && systemNamespace[m.name] || m.resource == "services" && m.namespaced() == "default/kubernetes"
}

// namespaced is the identity of the object.
func (m *exchange) namespaced() string {
	if m.resource == "namespaces" {
		return "/" + m.name
	}
	return m.namespace + "/" + m.name
}
