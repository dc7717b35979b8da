package kube

import "net/http"

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
