package kube

import (
	"fmt"
	"net/http"
	"time"
)

// bookmarkEvery is how often an idle watch gets a bookmark with its revision.
//
// Source: apiserver, pkg/storage/cacher, defaultBookmarkFrequency (v0.37.2).
const bookmarkEvery = time.Minute

// ForControllers configures the server for Kubernetes' own controllers and scheduler: a
// namespace is removed when it is empty, admission decides, evictions respect budgets, and
// watches have bookmarks. Call it before the first request.
//
// Without it, the simple controllers do what they need of that.
func (s *Server) ForControllers() error {
	if err := s.mux.forControllers(s); err != nil {
		return fmt.Errorf("kube: %w", err)
	}
	s.store.NotifyProgress(bookmarkEvery)
	return nil
}

// Controlled reports whether the server is configured for Kubernetes' own controllers.
func (s *Server) Controlled() bool { return s.backend.controlled }

func (m *mux) forControllers(s *Server) error {
	m.close()
	s.backend.controlled = true
	k, err := takeKept(s.backend, m.crds)
	m.kept.Store(k)
	m.admission = newAdmission(s)
	return err
}

// loopback is the transport of a registry that outlives the run: it leads to the server of
// each run.
type loopback struct{ o *storages }

// RoundTrip serves one request.
func (l loopback) RoundTrip(r *http.Request) (*http.Response, error) {
	return l.o.run.direct.RoundTrip(r)
}
