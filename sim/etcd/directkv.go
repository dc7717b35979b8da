package etcd

import (
	"context"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"
)

// straight is the KV protocol of a run on the memory store: without a hop and without
// translation.
type straight struct{ r *Run }

var _ pb.KVClient = (*straight)(nil)

// direct makes one call and records its commits as they happen.
func direct[Q, A any](ctx context.Context, r *Run, q Q, f func(*memory, context.Context, Q) (A, error)) (a A, err error) {
	if err := ctx.Err(); err != nil {
		return a, err
	}
	if r.Refuse != nil {
		if err := r.Refuse(q); err != nil {
			return a, err
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.calls.Add(1)
	err = r.straight(func(m *memory) (err error) {
		a, err = f(m, ctx, q)
		return err
	})
	return a, err
}

func (s *straight) Range(ctx context.Context, q *pb.RangeRequest, _ ...grpc.CallOption) (*pb.RangeResponse, error) {
	rev := at(ctx)
	stale := q.Revision == 0 && rev != 0
	if stale {
		q = proto.CloneOf(q)
		q.Revision = rev
	}
	a, err := direct(ctx, s.r, q, (*memory).Range)
	if stale && err == nil {
		a.Header.Revision = rev
	}
	return a, err
}

func (s *straight) Put(ctx context.Context, q *pb.PutRequest, _ ...grpc.CallOption) (*pb.PutResponse, error) {
	return direct(ctx, s.r, q, (*memory).Put)
}

func (s *straight) DeleteRange(ctx context.Context, q *pb.DeleteRangeRequest, _ ...grpc.CallOption) (*pb.DeleteRangeResponse, error) {
	return direct(ctx, s.r, q, (*memory).DeleteRange)
}

func (s *straight) Txn(ctx context.Context, q *pb.TxnRequest, _ ...grpc.CallOption) (*pb.TxnResponse, error) {
	return direct(ctx, s.r, q, (*memory).Txn)
}

// Compact compacts as the bridge does.
func (s *straight) Compact(ctx context.Context, q *pb.CompactionRequest, _ ...grpc.CallOption) (*pb.CompactionResponse, error) {
	a, err := direct(ctx, s.r, q, (*memory).Compact)
	if err != nil {
		return nil, err
	}
	s.r.compact(q.Revision)
	return a, nil
}
