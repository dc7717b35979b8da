package etcd

import (
	"bytes"
	"cmp"
	"context"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"

	"ipamsim/sim/etcd/check"
)

// Txn decides every branch, also of nested transactions, by the keys before it, checks the
// operations of the chosen branches, and only then executes them all.
//
// Source: etcdserver/txn, Txn.
func (m *memory) Txn(_ context.Context, q *pb.TxnRequest) (*pb.TxnResponse, error) {
	if err := check.Txn(q); err != nil {
		return nil, err
	}
	if !check.ReadOnly(q) {
		if err := check.Size(&pb.InternalRaftRequest{Txn: q}, check.Content(q)); err != nil {
			return nil, err
		}
	}
	m.begin = m.last
	branch := m.branches(q, nil)
	if _, err := m.executable(q, branch); err != nil {
		return nil, err
	}
	a, _ := m.execute(q, branch)
	a.Header = m.header()
	return a, nil
}

// branches appends the result of each transaction's comparison, depth first.
func (m *memory) branches(q *pb.TxnRequest, path []bool) []bool {
	holds := true
	for _, c := range q.Compare {
		if holds = m.compare(c); !holds {
			break
		}
	}
	path = append(path, holds)
	for _, op := range taken(q, holds) {
		if nested := op.GetRequestTxn(); nested != nil {
			path = m.branches(nested, path)
		}
	}
	return path
}

func taken(q *pb.TxnRequest, holds bool) []*pb.RequestOp {
	if holds {
		return q.Success
	}
	return q.Failure
}

// compare holds for a range if it holds for each of its pairs. A missing key compares as zero,
// but has no value that anything compares to.
func (m *memory) compare(c *pb.Compare) bool {
	if len(c.RangeEnd) == 0 {
		return compareOne(c, m.now(c.Key))
	}
	n, holds := 0, true
	m.ascend(c.Key, c.RangeEnd, func(kv *mvccpb.KeyValue) {
		n++
		holds = holds && compareOne(c, kv)
	})
	if n == 0 {
		return compareOne(c, nil)
	}
	return holds
}

func compareOne(c *pb.Compare, kv *mvccpb.KeyValue) bool {
	if kv == nil {
		if c.Target == pb.Compare_VALUE {
			return false
		}
		kv = &mvccpb.KeyValue{}
	}
	var by int
	switch c.Target {
	case pb.Compare_VALUE:
		by = bytes.Compare(kv.Value, c.GetValue())
	case pb.Compare_CREATE:
		by = cmp.Compare(kv.CreateRevision, c.GetCreateRevision())
	case pb.Compare_MOD:
		by = cmp.Compare(kv.ModRevision, c.GetModRevision())
	case pb.Compare_VERSION:
		by = cmp.Compare(kv.Version, c.GetVersion())
	case pb.Compare_LEASE:
		by = cmp.Compare(kv.Lease, c.GetLease())
	}
	switch c.Result {
	case pb.Compare_EQUAL:
		return by == 0
	case pb.Compare_NOT_EQUAL:
		return by != 0
	case pb.Compare_GREATER:
		return by > 0
	case pb.Compare_LESS:
		return by < 0
	}
	return true
}

// executable returns the error of a transaction that must fail, and the rest of the path.
func (m *memory) executable(q *pb.TxnRequest, path []bool) (rest []bool, err error) {
	ops := taken(q, path[0])
	path = path[1:]
	for _, op := range ops {
		switch r := op.Request.(type) {
		case *pb.RequestOp_RequestRange:
			rev := r.RequestRange.Revision
			if err = m.readable(rev); rev < 0 && err == nil {
				err = rpctypes.ErrGRPCCompacted // only here etcd does not treat it as "now"
			}
		case *pb.RequestOp_RequestPut:
			if err = m.leased(r.RequestPut); err == nil {
				err = m.previous(r.RequestPut)
			}
		case *pb.RequestOp_RequestTxn:
			path, err = m.executable(r.RequestTxn, path)
		}
		if err != nil {
			return nil, err
		}
	}
	return path, nil
}

// execute executes a transaction and returns the rest of the path. As in etcd, headers of
// inner responses have only the revision, and those of nested transactions not even that.
func (m *memory) execute(q *pb.TxnRequest, path []bool) (a *pb.TxnResponse, rest []bool) {
	ops := taken(q, path[0])
	a = &pb.TxnResponse{Succeeded: path[0], Responses: make([]*pb.ResponseOp, len(ops))}
	path = path[1:]
	for i, op := range ops {
		out := &pb.ResponseOp{}
		switch r := op.Request.(type) {
		case *pb.RequestOp_RequestRange:
			a := m.read(r.RequestRange)
			a.Header = m.within()
			out.Response = &pb.ResponseOp_ResponseRange{ResponseRange: a}
		case *pb.RequestOp_RequestPut:
			a := m.put(r.RequestPut)
			a.Header = m.within()
			out.Response = &pb.ResponseOp_ResponsePut{ResponsePut: a}
		case *pb.RequestOp_RequestDeleteRange:
			a := m.deleteRange(r.RequestDeleteRange)
			a.Header = m.within()
			out.Response = &pb.ResponseOp_ResponseDeleteRange{ResponseDeleteRange: a}
		case *pb.RequestOp_RequestTxn:
			var nested *pb.TxnResponse
			nested, path = m.execute(r.RequestTxn, path)
			nested.Header = &pb.ResponseHeader{}
			out.Response = &pb.ResponseOp_ResponseTxn{ResponseTxn: nested}
		}
		a.Responses[i] = out
	}
	return a, path
}

// within returns the header of a response within a transaction.
func (m *memory) within() *pb.ResponseHeader { return &pb.ResponseHeader{Revision: m.last} }
