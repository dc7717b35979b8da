// Package local connects processes of one simulated machine to its daemons by unix sockets in
// memory, for net/http, for gRPC (package localgrpc), or for any protocol.
//
// A connection carries bytes, in order and immediately. The schedule orders requests and their
// answers, each a message at the gate of the calling process: see Request.
package local

import (
	"context"
	"errors"
	"net"
	"sync"
	"syscall"
)

// Sockets are the sockets of one machine, by path. They are independent of its disk: a path
// needs no directory.
type Sockets struct {
	node string

	mu   sync.Mutex
	open map[string]*listener // nil: its daemon has ended
}

// New returns the sockets of a machine without a daemon.
func New(node string) *Sockets { return &Sockets{node: node, open: map[string]*listener{}} }

// Node returns the name of the machine.
func (s *Sockets) Node() string { return s.node }

// Listen accepts calls for the daemon whose context ends with its process. When it ends, its
// connections break and callers are refused until the next daemon listens: daemons remove an
// existing socket. A second daemon at the same time gets EADDRINUSE.
func (s *Sockets) Listen(ctx context.Context, path string) (net.Listener, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if s.open[path] != nil {
		return nil, failed("listen", path, syscall.EADDRINUSE)
	}
	l := &listener{sockets: s, ctx: ctx, path: path, calls: make(chan net.Conn), closed: make(chan struct{})}
	s.open[path] = l
	context.AfterFunc(ctx, func() { _ = l.Close() })
	return l, nil
}

// Dial connects the process with the context ctx. The error is ENOENT if no daemon has
// listened yet, ECONNREFUSED if none listens any longer.
func (s *Sockets) Dial(ctx context.Context, path string) (net.Conn, error) {
	s.mu.Lock()
	l, known := s.open[path]
	s.mu.Unlock()
	switch {
	case !known:
		return nil, failed("dial", path, syscall.ENOENT)
	case l == nil:
		return nil, failed("dial", path, syscall.ECONNREFUSED)
	}
	mine, theirs := net.Pipe()
	select {
	case l.calls <- theirs:
		return held(ctx, mine), nil
	case <-l.closed:
		return nil, failed("dial", path, syscall.ECONNREFUSED)
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func failed(op, path string, err error) error {
	return &net.OpError{Op: op, Net: "unix", Addr: addr(path), Err: err}
}

// conn is one process's end of a connection. It closes with its process, and a dead process
// sends nothing while it unwinds.
type conn struct {
	net.Conn
	ctx context.Context
}

func held(ctx context.Context, c net.Conn) net.Conn {
	context.AfterFunc(ctx, func() { _ = c.Close() })
	return conn{c, ctx}
}

func (c conn) Write(b []byte) (int, error) {
	if c.ctx.Err() != nil {
		return 0, failed("write", "", syscall.EPIPE)
	}
	return c.Conn.Write(b)
}

// addr is a socket's path.
type addr string

func (a addr) Network() string { return "unix" }
func (a addr) String() string  { return string(a) }

// listener is a daemon's end.
type listener struct {
	sockets *Sockets
	ctx     context.Context
	path    string
	calls   chan net.Conn
	once    sync.Once
	closed  chan struct{}
}

// Accept waits for a call.
func (l *listener) Accept() (net.Conn, error) {
	select {
	case c := <-l.calls:
		return held(l.ctx, c), nil
	case <-l.closed:
		return nil, failed("accept", l.path, net.ErrClosed)
	}
}

// Close refuses all further calls.
func (l *listener) Close() error {
	err := failed("close", l.path, net.ErrClosed)
	l.once.Do(func() {
		err = nil
		close(l.closed)
		l.sockets.mu.Lock()
		defer l.sockets.mu.Unlock()
		if l.sockets.open[l.path] == l {
			l.sockets.open[l.path] = nil
		}
	})
	return err
}

// Addr returns the path.
func (l *listener) Addr() net.Addr { return addr(l.path) }

// Refused reports whether an error means that no daemon listens.
func Refused(err error) bool {
	return errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, syscall.ENOENT)
}
