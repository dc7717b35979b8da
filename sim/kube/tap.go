package kube

import (
	"bytes"
	"net/http"
	"slices"
	"sync"
)

// Message is a request that has reached the server's handlers, with its answer: what
// another API server would be asked that is compared with this one.
type Message struct {
	Method, URI         string // /api/v1/pods?watch=1
	ContentType, Accept string
	Body                []byte
	Status              int
	Answer              []byte // nil for a watch that opened
	Events              *Events
	// Stale says that the schedule had it read an older revision, as from a watch cache
	// that lags behind.
	Stale bool
	// Found says that what it creates is taken as if it had been there for ever: AsFound.
	Found bool
}

// Events are what a watch has told so far, or nil if the message is none.
type Events struct {
	mu    sync.Mutex
	b     bytes.Buffer
	until int64
}

// Until is a revision up to which the watch has told everything, once it has ended; 0
// before.
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

// Bytes are the frames one after the other, as in the stream.
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

// Tap has f told of every message, gated or not, in the order in which they are answered.
// Call it before the first one. What f is given must not be changed.
func (s *Server) Tap(f func(*Message)) { s.tap = f }

// tapped tells of a message that was answered.
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
