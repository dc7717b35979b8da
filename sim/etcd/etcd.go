// Package etcd is the store under the simulated cluster: one real etcd for the
// process, outside every bubble, and for each run a bridged client inside its
// bubble that makes that etcd look freshly started.
package etcd

import (
	"context"
	"errors"

	clientv3 "go.etcd.io/etcd/client/v3"
)

var errTodo = errors.New("etcd: not written yet")

// Server is the etcd of this process.
type Server struct{}

// Start starts it.
func Start() (*Server, error) { return nil, errTodo }

// Close ends it and removes everything it wrote.
func (s *Server) Close() error { return errTodo }

// Begin empties the store for a new run. Call it outside the bubble.
func (s *Server) Begin() (*Run, error) { return nil, errTodo }

// Run is the store as one run sees it.
type Run struct{}

// Event is one committed change.
type Event struct {
	Key         string
	Value, Prev []byte // nil when deleted, nil when created
	Revision    int64
	Deleted     bool
}

// Client is the bridged client, for use inside the bubble.
func (r *Run) Client() *clientv3.Client { return nil }

// Pump delivers due watch events inside the bubble and reports whether anything moved.
func (r *Run) Pump() bool { return false }

// OnEvent subscribes f to every committed change, called from Pump in revision order.
func (r *Run) OnEvent(f func(Event)) {}

// Revision is the current revision.
func (r *Run) Revision() int64 { return 0 }

// Digest is a hash of every key, version and value.
func (r *Run) Digest() (string, error) { return "", errTodo }

// Calls is the number of KV calls so far.
func (r *Run) Calls() int { return 0 }

// End ends the run.
func (r *Run) End() {}

// AtRevision makes Gets under the context read at a revision.
func AtRevision(ctx context.Context, rev int64) context.Context { return ctx }
