// Package kube is the Kubernetes API server inside the bubble: the real
// registries, validation, defaulting, patches and custom-resource handler of
// Kubernetes over the run's store, without TCP and without a watch cache.
//
// Direct passes no gate and is for the simulator. Transport belongs to one actor: each of its
// requests, and each frame of each of its watches, is a message that the schedule delivers or
// fails.
package kube

import (
	"context"
	"fmt"
	"net/http"
	"sync/atomic"

	apiextv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	utilrand "k8s.io/apimachinery/pkg/util/rand"
	"k8s.io/client-go/rest"

	"ipamsim/sim/etcd"
)

// Server is the API server of one run.
type Server struct {
	store   *etcd.Run
	backend *backend
	mux     *mux
	crds    []*apiextv1.CustomResourceDefinition
	journal *journal
	answers answers
	tap     func(*Message)  // nil: no tap
	settled atomic.Int64    // revision that every watch had delivered before the last step with a message, if there is a tap
	ctx     context.Context // ends with Close, and every watch with it
	cancel  context.CancelFunc
}

// New builds an API server inside the run's bubble. It serves the built-in
// resources that nodes, pods and their controllers need, the given custom
// resources, and NetworkAttachmentDefinition.
func New(store *etcd.Run, crds []*apiextv1.CustomResourceDefinition) (*Server, error) {
	prepare()
	// generateName draws from one generator of the process: the n-th name of a run must not
	// depend on the number of earlier runs.
	utilrand.Seed(1)
	nad, err := networkAttachmentDefinition()
	if err != nil {
		return nil, fmt.Errorf("kube: %w", err)
	}
	s := &Server{store: store, backend: newBackend(store)}
	s.backend.direct = s.Direct()
	s.ctx, s.cancel = context.WithCancel(context.Background())
	s.crds = append([]*apiextv1.CustomResourceDefinition{nad}, crds...)
	if s.mux, err = newMux(s.backend, s.crds); err != nil {
		return nil, fmt.Errorf("kube: %w", err)
	}
	s.journal = newJournal(store, s.mux.custom)
	store.OnEvent(s.journal.heard)
	store.OnEvent(s.compact())
	return s, nil
}

// Close ends every watch, so that no goroutine of the server outlives the run,
// and every store. Call it inside the bubble, after the actors were killed.
func (s *Server) Close() {
	s.cancel()
	s.mux.close()
	s.backend.close()
}

// Direct returns a transport that passes no gate: it serves requests immediately.
func (s *Server) Direct() http.RoundTripper { return direct{s} }

// Config returns a client configuration for a transport, without a rate limit. Callers may set
// one. Typed clients made with it use protobuf for Kubernetes' own resources, as in any
// cluster.
func Config(rt http.RoundTripper) *rest.Config {
	return &rest.Config{Host: "http://kube.sim", Transport: rt, QPS: -1, UserAgent: "ipamsim"}
}
