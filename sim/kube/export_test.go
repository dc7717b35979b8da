package kube

import (
	"net/http"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"ipamsim/sim/kube/answer"
)

// StatusOf is the body of an answer.
func StatusOf(a answer.Answer) *metav1.Status { return statusOf(&a) }

// Afresh is what the handlers answer, and Remembered whether the server would not
// ask them.
func (s *Server) Afresh(req *http.Request) (resp *http.Response, remembered bool) {
	c, err := s.begin(req)
	if err != nil {
		panic(err)
	}
	if q, ok := c.question(); ok {
		remembered = c.known(req.Context(), q) != nil
	}
	w := c.ask(req.Context())
	return c.response(w.code, w.header, w.body.Bytes()), remembered
}

// ForgetHandlers has the next run build its own, as the first of a process.
func ForgetHandlers() { shelves.plain.Store(nil); shelves.controlled.Store(nil) }
