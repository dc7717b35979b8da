package kube

import (
	"fmt"
	"net/http"
	"time"
)

// bookmarkEvery is how often whoever watches without hearing of anything is told up to
// which revision it knows everything.
//
// Source: apiserver, pkg/storage/cacher, defaultBookmarkFrequency (v0.37.2).
const bookmarkEvery = time.Minute

// ForControllers makes it the server that Kubernetes' own controllers and scheduler
// count on: a namespace goes when it is empty, admission decides, evictions meet
// budgets, and watches have bookmarks. Call it before the first request.
//
// Without it, whoever stands in for them does what that is for.
func (s *Server) ForControllers() error {
	if err := s.mux.forControllers(s); err != nil {
		return fmt.Errorf("kube: %w", err)
	}
	s.store.NotifyProgress(bookmarkEvery)
	return nil
}

// Controlled reports whether Kubernetes' own controllers are counted on.
func (s *Server) Controlled() bool { return s.backend.controlled }

func (m *mux) forControllers(s *Server) error {
	m.close()
	s.backend.controlled = true
	k, err := takeKept(s.backend, m.crds)
	m.kept.Store(k)
	m.admission = newAdmission(s)
	return err
}

// loopback is the way of a registry that outlives the run to the server of each run.
type loopback struct{ o *storages }

// RoundTrip serves one request.
func (l loopback) RoundTrip(r *http.Request) (*http.Response, error) {
	return l.o.run.direct.RoundTrip(r)
}
