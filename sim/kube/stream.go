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
	events  *Events // a copy of the events; may be nil
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

// CloseNotify is never called. Kubernetes wraps a writer that flushes only if the writer has
// the methods of HTTP/2's.
func (w *stream) CloseNotify() <-chan bool { return nil }

// pipe is an unbounded byte stream: the writer, a server, never waits for the reader.
type pipe struct {
	cancel context.CancelFunc // ends the server's side

	mu    sync.Mutex
	more  *sync.Cond
	buf   bytes.Buffer
	ended bool
	err   error // the final error, if not io.EOF
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

// Read returns io.EOF after the end of the stream, or the stream's final error.
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

// end marks the end of the stream; the reader reads the rest first.
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

// Close ends the reader's side. Otherwise the server's goroutine would wait forever for a
// client that has ended.
func (p *pipe) Close() error {
	p.end()
	p.cancel()
	return nil
}
