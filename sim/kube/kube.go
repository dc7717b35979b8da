// Package kube is the Kubernetes API server inside the bubble: the real
// registries, validation, patches and custom-resource handler, without TCP,
// without a watch cache, over the run's store.
package kube

import (
	"context"
	"errors"
	"net/http"

	apiextv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"

	"ipamsim/sim"
	"ipamsim/sim/etcd"
)

var errTodo = errors.New("kube: not written yet")

// Server is the API server of one run.
type Server struct{}

// New builds it inside the bubble.
func New(store *etcd.Run, crds []*apiextv1.CustomResourceDefinition) (*Server, error) {
	return nil, errTodo
}

// Close ends it.
func (s *Server) Close() {}

// Direct is the way in that passes no gate.
func (s *Server) Direct() http.RoundTripper { return nil }

// Door is one actor's way in.
func (s *Server) Door(g *sim.Gate) http.RoundTripper { return nil }

// WithClass gives the requests made under ctx another latency class than "api".
func WithClass(ctx context.Context, class string) context.Context { return ctx }

// Exchange is one request with its answer, as Detail of a step.
type Exchange struct {
	Method, Path, RawQuery string
	Verb                   string // get list watch create update patch delete deletecollection
	Resource, Subresource  string
	Namespace, Name        string
	Request, Response      []byte
	Status                 int
	Reason                 string // of a Status answer: "Conflict"
}

// Config is a client configuration over a way in.
func Config(rt http.RoundTripper) *rest.Config { return nil }

// Change is one committed change of an object.
type Change struct {
	Resource, Group, Namespace, Name string
	Revision                         int64
	Object, Old                      runtime.Object // nil when deleted, nil when created; shared, read-only
}

// OnChange subscribes f to every committed change, called from the store's Pump in revision order.
func (s *Server) OnChange(f func(Change)) {}

// List is every stored object of a resource ("pods"), read without the gate.
func (s *Server) List(ctx context.Context, resource string) ([]runtime.Object, error) {
	return nil, errTodo
}
