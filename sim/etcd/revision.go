package etcd

import (
	"context"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
	"google.golang.org/protobuf/proto"
)

// AtRevision makes every read under the context without a revision read the store at rev, with
// a header of rev: the answer of an API server whose watch cache lags.
func AtRevision(ctx context.Context, rev int64) context.Context {
	return context.WithValue(ctx, atKey{}, rev)
}

// Beneath makes every read under the context go to the store itself, also reads that the
// bridge can answer, to compare the two.
func Beneath(ctx context.Context) context.Context {
	return context.WithValue(ctx, beneathKey{}, true)
}

type (
	atKey      struct{}
	beneathKey struct{}
)

func at(ctx context.Context) int64 {
	rev, _ := ctx.Value(atKey{}).(int64)
	return rev
}

func beneath(ctx context.Context) bool { return ctx.Value(beneathKey{}) != nil }

// base is etcd's revision at the start of the run. Requests add it, responses subtract it, and
// 0, which means "none" in every field, stays 0.
type base int64

func (b base) in(rev int64) int64 {
	if rev <= 0 {
		return rev
	}
	return rev + int64(b)
}

func (b base) out(rev int64) int64 {
	if rev <= 0 {
		return rev
	}
	return rev - int64(b)
}

// header also hides the ids of member and cluster and the raft term: a run must not depend on
// its etcd. Responses within a transaction have no header.
func (b base) header(h *pb.ResponseHeader) *pb.ResponseHeader {
	switch {
	case h == nil:
		return nil
	case h.ClusterId == 0:
		return &pb.ResponseHeader{Revision: b.out(h.Revision)}
	}
	return &pb.ResponseHeader{ClusterId: 1, MemberId: 1, RaftTerm: 2, Revision: b.out(h.Revision)}
}

func (b base) kv(kv *mvccpb.KeyValue) {
	if kv != nil {
		kv.CreateRevision = b.out(kv.CreateRevision)
		kv.ModRevision = b.out(kv.ModRevision)
	}
}

// wire converts empty bytes to what a server would decode from the network. In process, where
// most reads are not encoded, etcd treats an end that is empty but not nil as "everything from
// the key on".
func wire(end []byte) []byte {
	if len(end) == 0 {
		return nil
	}
	return end
}

func (b base) rangeIn(r *pb.RangeRequest) *pb.RangeRequest {
	c := proto.CloneOf(r)
	c.RangeEnd = wire(r.RangeEnd)
	c.Revision = b.in(r.Revision)
	c.MinModRevision = b.in(r.MinModRevision)
	c.MaxModRevision = b.in(r.MaxModRevision)
	c.MinCreateRevision = b.in(r.MinCreateRevision)
	c.MaxCreateRevision = b.in(r.MaxCreateRevision)
	return c
}

func (b base) rangeOut(r *pb.RangeResponse) {
	r.Header = b.header(r.Header)
	for _, kv := range r.Kvs {
		b.kv(kv)
	}
}

func (b base) putOut(r *pb.PutResponse) {
	r.Header = b.header(r.Header)
	b.kv(r.PrevKv)
}

func (b base) deleteOut(r *pb.DeleteRangeResponse) {
	r.Header = b.header(r.Header)
	for _, kv := range r.PrevKvs {
		b.kv(kv)
	}
}

// txnIn copies what it changes: a caller may commit the same comparisons again.
func (b base) txnIn(r *pb.TxnRequest) *pb.TxnRequest {
	c := &pb.TxnRequest{Success: b.opsIn(r.Success), Failure: b.opsIn(r.Failure)}
	for _, cmp := range r.Compare {
		n := proto.CloneOf(cmp)
		n.RangeEnd = wire(cmp.RangeEnd)
		switch u := cmp.TargetUnion.(type) {
		case *pb.Compare_ModRevision:
			n.TargetUnion = &pb.Compare_ModRevision{ModRevision: b.in(u.ModRevision)}
		case *pb.Compare_CreateRevision:
			n.TargetUnion = &pb.Compare_CreateRevision{CreateRevision: b.in(u.CreateRevision)}
		}
		c.Compare = append(c.Compare, n)
	}
	return c
}

func (b base) opsIn(ops []*pb.RequestOp) []*pb.RequestOp {
	out := make([]*pb.RequestOp, len(ops))
	for i, op := range ops {
		switch o := op.Request.(type) {
		case *pb.RequestOp_RequestRange:
			op = &pb.RequestOp{Request: &pb.RequestOp_RequestRange{RequestRange: b.rangeIn(o.RequestRange)}}
		case *pb.RequestOp_RequestTxn:
			op = &pb.RequestOp{Request: &pb.RequestOp_RequestTxn{RequestTxn: b.txnIn(o.RequestTxn)}}
		}
		out[i] = op
	}
	return out
}

func (b base) txnOut(r *pb.TxnResponse) {
	r.Header = b.header(r.Header)
	for _, op := range r.Responses {
		switch o := op.Response.(type) {
		case *pb.ResponseOp_ResponseRange:
			b.rangeOut(o.ResponseRange)
		case *pb.ResponseOp_ResponsePut:
			b.putOut(o.ResponsePut)
		case *pb.ResponseOp_ResponseDeleteRange:
			b.deleteOut(o.ResponseDeleteRange)
		case *pb.ResponseOp_ResponseTxn:
			b.txnOut(o.ResponseTxn)
		}
	}
}
