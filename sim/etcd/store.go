package etcd

import (
	"context"
	"errors"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/server/v3/etcdserver"
	"go.etcd.io/etcd/server/v3/etcdserver/api/v3rpc"
	"go.etcd.io/etcd/server/v3/storage/mvcc"
)

// store is the layer below the bridge: the server's side of etcd's protocol, in absolute
// revisions. It is called only outside of bubbles, one call at a time.
type store interface {
	pb.KVServer
	grant(lease int64) error
	revoke(lease int64) error
	// events returns the commits since the last call, in order, without previous values.
	events() []*mvccpb.Event
	// wipe removes every key and lease and all history, and returns the revision that
	// corresponds to 1, the revision of a fresh etcd.
	wipe() (int64, error)
	close()
}

// real is etcd itself.
type real struct {
	pb.KVServer
	leases pb.LeaseServer
	tap    mvcc.WatchStream

	granted []int64
}

// newReal taps the whole keyspace. mvcc notifies an up-to-date watcher inside the write,
// before the reply: when a write has returned, its events are in the tap.
func newReal(s *etcdserver.EtcdServer) (*real, error) {
	e := &real{KVServer: v3rpc.NewQuotaKVServer(s), leases: v3rpc.NewQuotaLeaseServer(s)}
	e.tap = s.KV().NewWatchStream()
	_, err := e.tap.Watch(context.Background(), clientv3.AutoWatchID, []byte{0}, []byte{}, 0)
	return e, err
}

// Range reads without a round of raft: the only member has applied every write that it has
// answered.
func (e *real) Range(ctx context.Context, r *pb.RangeRequest) (*pb.RangeResponse, error) {
	r.Serializable = true
	return e.KVServer.Range(ctx, r)
}

// grant creates a lease that etcd's own clock never ends.
func (e *real) grant(lease int64) error {
	const longest = 9_000_000_000 // lease.MaxLeaseTTL, seconds
	_, err := e.leases.LeaseGrant(context.Background(), &pb.LeaseGrantRequest{ID: lease, TTL: longest})
	if err == nil {
		e.granted = append(e.granted, lease)
	}
	return err
}

func (e *real) revoke(lease int64) error {
	_, err := e.leases.LeaseRevoke(context.Background(), &pb.LeaseRevokeRequest{ID: lease})
	return err
}

// events empties the tap. Its buffer holds 128 writes and it is emptied after
// each, so etcd never has to catch up on its own clock.
func (e *real) events() []*mvccpb.Event {
	var all []*mvccpb.Event
	for {
		select {
		case r := <-e.tap.Chan():
			all = append(all, r.Events...)
		default:
			return all
		}
	}
}

func (e *real) wipe() (int64, error) {
	ctx := context.Background()
	for _, id := range e.granted {
		if err := e.revoke(id); err != nil && !errors.Is(err, rpctypes.ErrGRPCLeaseNotFound) {
			return 0, err
		}
		e.events()
	}
	e.granted = nil
	r, err := e.DeleteRange(ctx, &pb.DeleteRangeRequest{Key: []byte{0}, RangeEnd: []byte{0}})
	if err != nil {
		return 0, err
	}
	e.events()
	rev := r.Header.Revision
	if _, err := e.Compact(ctx, &pb.CompactionRequest{Revision: rev}); err != nil && !errors.Is(err, rpctypes.ErrGRPCCompacted) {
		return 0, err
	}
	return rev, nil
}

func (e *real) close() { e.tap.Close() }
