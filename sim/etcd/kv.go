package etcd

import (
	"context"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"google.golang.org/grpc"
)

// kv is the bubble's side of etcd's KV protocol. It works on protocol messages, so no option
// of the client bypasses the translation of revisions.
type kv struct{ r *Run }

var _ pb.KVClient = (*kv)(nil)

// hop makes one call outside, under a context that belongs to no bubble. A canceled caller
// sends nothing.
func hop[Q, A any](ctx context.Context, r *Run, q Q, f func(store, context.Context, Q) (A, error)) (a A, err error) {
	if err := ctx.Err(); err != nil {
		return a, err
	}
	if r.Refuse != nil && !beneath(ctx) {
		if err := r.Refuse(q); err != nil {
			return a, err
		}
	}
	r.calls.Add(1)
	err = r.call(func(s store) (err error) {
		a, err = f(s, context.Background(), q)
		return err
	})
	return a, err
}

func (k *kv) Range(ctx context.Context, q *pb.RangeRequest, _ ...grpc.CallOption) (*pb.RangeResponse, error) {
	if plain(q) && at(ctx) == 0 && ctx.Err() == nil && !beneath(ctx) {
		return k.r.present(q)
	}
	q = k.r.base.rangeIn(q)
	stale := q.Revision == 0 && at(ctx) != 0
	if stale {
		q.Revision = k.r.base.in(at(ctx))
	}
	a, err := hop(ctx, k.r, q, store.Range)
	if err != nil {
		return nil, err
	}
	k.r.base.rangeOut(a)
	if stale {
		a.Header.Revision = at(ctx)
	}
	return a, nil
}

// plain reports whether a request only asks for present keys, by key.
func plain(q *pb.RangeRequest) bool {
	return len(q.Key) > 0 && q.Revision == 0 && q.SortOrder == pb.RangeRequest_NONE && q.SortTarget == pb.RangeRequest_KEY &&
		q.MinModRevision|q.MaxModRevision|q.MinCreateRevision|q.MaxCreateRevision == 0
}

// present answers for etcd from recorded events: every write of the run goes through the
// bridge, which records its events before the writer has its reply, so the present state is
// complete. It serves nearly all reads; Digest verifies it.
func (r *Run) present(q *pb.RangeRequest) (*pb.RangeResponse, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ended || r.srv.run.Load() != r {
		return nil, ErrEnded
	}
	r.calls.Add(1)
	return r.history.read(q), nil
}

func (k *kv) Put(ctx context.Context, q *pb.PutRequest, _ ...grpc.CallOption) (*pb.PutResponse, error) {
	a, err := hop(ctx, k.r, q, store.Put)
	if err != nil {
		return nil, err
	}
	k.r.base.putOut(a)
	return a, nil
}

func (k *kv) DeleteRange(ctx context.Context, q *pb.DeleteRangeRequest, _ ...grpc.CallOption) (*pb.DeleteRangeResponse, error) {
	a, err := hop(ctx, k.r, q, store.DeleteRange)
	if err != nil {
		return nil, err
	}
	k.r.base.deleteOut(a)
	return a, nil
}

func (k *kv) Txn(ctx context.Context, q *pb.TxnRequest, _ ...grpc.CallOption) (*pb.TxnResponse, error) {
	a, err := hop(ctx, k.r, k.r.base.txnIn(q), store.Txn)
	if err != nil {
		return nil, err
	}
	k.r.base.txnOut(a)
	return a, nil
}

// Compact deletes the history before a revision: watches and reads that need it fail from then
// on, as with any etcd.
func (k *kv) Compact(ctx context.Context, q *pb.CompactionRequest, _ ...grpc.CallOption) (*pb.CompactionResponse, error) {
	if a := k.r.compactNothing(q); a != nil && ctx.Err() == nil {
		return a, nil
	}
	c := &pb.CompactionRequest{Revision: k.r.base.in(q.Revision), Physical: q.Physical}
	a, err := hop(ctx, k.r, c, store.Compact)
	if err != nil {
		return nil, err
	}
	a.Header = k.r.base.header(a.Header)
	k.r.compact(q.Revision)
	return a, nil
}

// compactNothing answers a compaction that is valid for a fresh etcd without history, but that
// the shared etcd would refuse because it has compacted what was before the run; otherwise it
// returns nil.
func (r *Run) compactNothing(q *pb.CompactionRequest) *pb.CompactionResponse {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ended || r.srv.run.Load() != r || q.Revision <= r.history.compacted || q.Revision > 1 {
		return nil
	}
	r.calls.Add(1)
	r.history.compacted = q.Revision
	return &pb.CompactionResponse{Header: r.header()}
}

func (r *Run) compact(rev int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.history.compact(rev, r.notified)
	r.due.Store(true) // watches that lag behind it get an error
}
