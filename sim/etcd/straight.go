package etcd

import (
	"context"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"google.golang.org/grpc"
)

// straight is the KV protocol of a run on the fast store: no hop, and nothing to
// translate.
type straight struct{ r *Run }

var _ pb.KVClient = (*straight)(nil)

func (s *straight) Range(ctx context.Context, q *pb.RangeRequest, _ ...grpc.CallOption) (*pb.RangeResponse, error) {
	rev := at(ctx)
	stale := q.Revision == 0 && rev != 0
	if stale {
		then := *q
		then.Revision, q = rev, &then
	}
	a, err := hop(ctx, s.r, q, store.Range)
	if stale && err == nil {
		a.Header.Revision = rev
	}
	return a, err
}

func (s *straight) Put(ctx context.Context, q *pb.PutRequest, _ ...grpc.CallOption) (*pb.PutResponse, error) {
	return hop(ctx, s.r, q, store.Put)
}

func (s *straight) DeleteRange(ctx context.Context, q *pb.DeleteRangeRequest, _ ...grpc.CallOption) (*pb.DeleteRangeResponse, error) {
	return hop(ctx, s.r, q, store.DeleteRange)
}

func (s *straight) Txn(ctx context.Context, q *pb.TxnRequest, _ ...grpc.CallOption) (*pb.TxnResponse, error) {
	return hop(ctx, s.r, q, store.Txn)
}

// Compact as the bridge does it.
func (s *straight) Compact(ctx context.Context, q *pb.CompactionRequest, _ ...grpc.CallOption) (*pb.CompactionResponse, error) {
	a, err := hop(ctx, s.r, q, store.Compact)
	if err != nil {
		return nil, err
	}
	s.r.compact(q.Revision)
	return a, nil
}
