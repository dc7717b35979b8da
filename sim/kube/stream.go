package kube

import (
	"bytes"
	"cmp"
	"context"
	"io"
	"net/http"
	"sync"
)

// stream is the server's end of a watch.
type stream struct {
	header  http.Header
	code    int
	once    sync.Once
	started chan struct{} // closed when the answer begins
	pipe    *pipe
	events  *Events // a copy of what goes through it; may be nil
}

func (w *stream) Header() http.Header { return w.header }

func (w *stream) WriteHeader(code int) {
	w.once.Do(func() { w.code = code; close(w.started) })
}

func (w *stream) Write(b []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	if w.events != nil {
		w.events.add(b)
	}
	return w.pipe.Write(b)
}

func (w *stream) Flush() { w.WriteHeader(http.StatusOK) }

// CloseNotify is never used. Kubernetes wraps a writer that flushes only if it
// looks like that of HTTP/2, which has both methods.
func (w *stream) CloseNotify() <-chan bool { return nil }

// pipe is an unbounded byte stream: its writer, a server, never waits for its
// reader.
type pipe struct {
	cancel context.CancelFunc // ends the server's side

	mu    sync.Mutex
	more  *sync.Cond
	buf   bytes.Buffer
	ended bool
	err   error // with which it ended, if not io.EOF
}

func newPipe(cancel context.CancelFunc) *pipe {
	p := &pipe{cancel: cancel}
	p.more = sync.NewCond(&p.mu)
	return p
}

func (p *pipe) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ended {
		return 0, io.ErrClosedPipe
	}
	p.more.Signal()
	return p.buf.Write(b)
}

// Read returns io.EOF when the stream has ended and everything was read, or the error with
// which it ended.
func (p *pipe) Read(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.buf.Len() == 0 {
		if p.ended {
			return 0, cmp.Or(p.err, io.EOF)
		}
		p.more.Wait()
	}
	return p.buf.Read(b)
}

// end lets the reader see the end once it has read the rest.
func (p *pipe) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ended = true
	p.more.Broadcast()
}

// fail ends the stream with an error of its connection.
func (p *pipe) fail(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.ended {
		p.ended, p.err = true, err
		p.more.Broadcast()
	}
}

// Close is the reader hanging up: a server's goroutine whose client has gone
// would otherwise wait for ever.
func (p *pipe) Close() error {
	p.end()
	p.cancel()
	return nil
}
