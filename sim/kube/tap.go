package kube

import (
	"bytes"
	"net/http"
	"slices"
	"sync"
)

// Message is a request that reached the server's handlers, with its answer: the input for the
// comparison with another API server.
type Message struct {
	Method, URI         string // /api/v1/pods?watch=1
	ContentType, Accept string
	Body                []byte
	Status              int
	Answer              []byte // nil for a watch that opened
	Events              *Events
	// Stale: the schedule made it read an older revision, as from a watch cache that lags
	// behind.
	Stale bool
	// Found: its context is marked AsFound.
	Found bool
}

// Events are the events of a watch so far, or nil if the message is not a watch.
type Events struct {
	mu    sync.Mutex
	b     bytes.Buffer
	until int64
}

// Until returns a revision up to which the watch is complete, once it has ended; 0 before.
func (e *Events) Until() int64 {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.until
}

func (e *Events) end(rev int64) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.until = max(1, rev)
}

// Bytes returns the frames in order, as in the stream.
func (e *Events) Bytes() []byte {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clone(e.b.Bytes())
}

func (e *Events) add(b []byte) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.b.Write(b)
}

// Tap calls f with every message, gated or not, in the order of the answers. Call it before
// the first message. f must not change its arguments.
func (s *Server) Tap(f func(*Message)) { s.tap = f }

// tapped passes an answered message to the tap.
func (c *call) tapped(resp *http.Response, events *Events) {
	if c.s.tap == nil {
		return
	}
	m := &Message{
		Method: c.req.Method, URI: c.req.URL.RequestURI(), ContentType: c.req.Header.Get("Content-Type"), Accept: c.req.Header.Get("Accept"),
		Body: c.body, Status: resp.StatusCode, Events: events, Stale: c.stale, Found: isFound(c.req.Context()),
	}
	if b, ok := resp.Body.(*inMemory); ok {
		m.Answer = b.body
	}
	c.s.tap(m)
}
