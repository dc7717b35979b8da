package kube

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"

	"k8s.io/apiserver/pkg/endpoints/request"
)

// direct calls the handlers immediately.
type direct struct{ s *Server }

// RoundTrip serves one request.
func (d direct) RoundTrip(req *http.Request) (*http.Response, error) {
	c, err := d.s.begin(req)
	if err != nil {
		return nil, err
	}
	if c.info.Verb == "watch" {
		return c.watch(req.Context())
	}
	return c.serve(req.Context()), nil
}

// call is one incoming request.
type call struct {
	s    *Server
	req  *http.Request
	info *request.RequestInfo
	body []byte

	stale bool // see Message
}

func (s *Server) begin(req *http.Request) (*call, error) {
	c := &call{s: s, req: req}
	if req.Body != nil {
		var err error
		c.body, err = readAll(req.Body, req.ContentLength)
		if err := req.Body.Close(); err != nil {
			return nil, err
		}
		if err != nil {
			return nil, err
		}
	}
	var err error
	if c.info, err = requestInfo.NewRequestInfo(req); err != nil {
		return nil, fmt.Errorf("kube: %s: %w", req.URL, err)
	}
	return c, nil
}

// inbound returns the request for the handlers. It is a copy: the caller's request must not
// change.
func (c *call) inbound(ctx context.Context) *http.Request {
	r := c.req.Clone(request.WithRequestInfo(ctx, c.info))
	r.RequestURI = c.req.URL.RequestURI()
	r.Body = io.NopCloser(bytes.NewReader(c.body))
	return r
}

// serve answers a request that is not a watch.
func (c *call) serve(ctx context.Context) *http.Response {
	resp := c.served(ctx)
	c.tapped(resp, nil)
	return resp
}

func (c *call) served(ctx context.Context) *http.Response {
	if q, ok := c.question(); ok {
		if known := c.known(ctx, q); known != nil {
			return known
		}
	}
	w := c.ask(ctx)
	c.learn(w)
	return c.response(w.code, w.header, w.body.Bytes())
}

// ask calls the handlers.
func (c *call) ask(ctx context.Context) *reply {
	w := &reply{header: http.Header{}, code: http.StatusOK}
	c.s.mux.ServeHTTP(w, c.inbound(ctx))
	return w
}

func (c *call) response(code int, h http.Header, body []byte) *http.Response {
	return &http.Response{
		Status: fmt.Sprintf("%d %s", code, http.StatusText(code)), StatusCode: code,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: h, Body: newInMemory(body), ContentLength: int64(len(body)), Request: c.req,
	}
}

// inMemory is the body of a complete answer. It is never changed.
type inMemory struct {
	bytes.Reader
	body []byte
}

func newInMemory(body []byte) *inMemory {
	m := &inMemory{body: body}
	m.Reset(body)
	return m
}

// Close does nothing.
func (*inMemory) Close() error { return nil }

// readAll is io.ReadAll with a buffer of the expected length.
func readAll(r io.Reader, length int64) ([]byte, error) {
	if length < 0 || length > bodyMax {
		return io.ReadAll(r)
	}
	b := bytes.NewBuffer(make([]byte, 0, length+bytes.MinRead)) // with less room ReadFrom grows the buffer to detect the end
	_, err := b.ReadFrom(r)
	return b.Bytes(), err
}

// watch opens a watch and returns when its answer begins. The server's side is a goroutine
// that ends with ctx, when the client closes the body, at the watch's time-out, or with the
// run.
func (c *call) watch(ctx context.Context) (*http.Response, error) {
	ctx, cancel := context.WithCancel(ctx)
	stopped := context.AfterFunc(c.s.ctx, cancel)
	p := newPipe(cancel)
	w := &stream{header: http.Header{}, pipe: p, started: make(chan struct{})}
	if c.s.tap != nil {
		w.events = &Events{}
	}
	go func() {
		defer stopped()
		defer cancel()
		defer p.end()
		if w.events != nil {
			defer func() { w.events.end(c.s.settled.Load()) }()
		}
		defer w.WriteHeader(http.StatusOK)
		c.s.mux.ServeHTTP(w, c.inbound(ctx))
	}()
	<-w.started
	if w.code != http.StatusOK {
		body, err := io.ReadAll(p) // a refusal is short and complete
		if err != nil {
			return nil, err
		}
		resp := c.response(w.code, w.header, body)
		c.tapped(resp, nil)
		return resp, nil
	}
	resp := c.response(w.code, w.header, nil)
	resp.Body, resp.ContentLength = p, -1
	c.tapped(resp, w.events)
	return resp, nil
}

// reply collects an answer.
type reply struct {
	header http.Header
	code   int
	body   bytes.Buffer
}

func (w *reply) Header() http.Header         { return w.header }
func (w *reply) WriteHeader(code int)        { w.code = code }
func (w *reply) Write(b []byte) (int, error) { return w.body.Write(b) }
func (w *reply) Flush()                      {}
