// Package check contains etcd's validation of requests before it reads any key, in etcd's
// order. All errors are those of rpctypes.
//
// Source: etcdserver/api/v3rpc, key.go; etcdserver, v3_server.go (etcd v3.7).
package check

import (
	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	"go.etcd.io/etcd/pkg/v3/adt"
	"google.golang.org/protobuf/proto"
)

// etcd's default limits (embed.DefaultMaxTxnOps, embed.DefaultMaxRequestBytes).
const (
	opsMax   = 128
	bytesMax = 1536 << 10
)

// Size refuses a request that is too long for a message of raft, given the length of its keys
// and values. A request below 1 MiB is never too long.
func Size(r *pb.InternalRaftRequest, content int) error {
	if content < 1<<20 {
		return nil
	}
	r.Header = &pb.RequestHeader{ID: 1 << 63}
	if proto.Size(r) > bytesMax {
		return rpctypes.ErrGRPCRequestTooLarge
	}
	return nil
}

// Content returns the length of all keys and values of a transaction.
func Content(q *pb.TxnRequest) (n int) {
	for _, c := range q.Compare {
		n += len(c.Key) + len(c.RangeEnd) + len(c.GetValue())
	}
	for _, ops := range [][]*pb.RequestOp{q.Success, q.Failure} {
		for _, op := range ops {
			switch r := op.Request.(type) {
			case *pb.RequestOp_RequestRange:
				n += len(r.RequestRange.Key) + len(r.RequestRange.RangeEnd)
			case *pb.RequestOp_RequestPut:
				n += len(r.RequestPut.Key) + len(r.RequestPut.Value)
			case *pb.RequestOp_RequestDeleteRange:
				n += len(r.RequestDeleteRange.Key) + len(r.RequestDeleteRange.RangeEnd)
			case *pb.RequestOp_RequestTxn:
				n += Content(r.RequestTxn)
			}
		}
	}
	return n
}

// ReadOnly reports whether a transaction does not pass raft: it contains only reads, and no
// nested transaction, which always passes it.
func ReadOnly(q *pb.TxnRequest) bool {
	for _, ops := range [][]*pb.RequestOp{q.Success, q.Failure} {
		for _, op := range ops {
			if op.GetRequestRange() == nil {
				return false
			}
		}
	}
	return true
}

// Range refuses a read without a key or with an unknown order.
func Range(q *pb.RangeRequest) error {
	switch {
	case len(q.Key) == 0:
		return rpctypes.ErrGRPCEmptyKey
	case q.SortOrder < pb.RangeRequest_NONE || q.SortOrder > pb.RangeRequest_DESCEND, q.SortTarget < pb.RangeRequest_KEY || q.SortTarget > pb.RangeRequest_VALUE:
		return rpctypes.ErrGRPCInvalidSortOption
	}
	return nil
}

// Put refuses a write without a key, or with a value or lease that it ignores.
func Put(q *pb.PutRequest) error {
	switch {
	case len(q.Key) == 0:
		return rpctypes.ErrGRPCEmptyKey
	case q.IgnoreValue && len(q.Value) != 0:
		return rpctypes.ErrGRPCValueProvided
	case q.IgnoreLease && q.Lease != 0:
		return rpctypes.ErrGRPCLeaseProvided
	}
	return nil
}

// Delete refuses a deletion without a key.
func Delete(q *pb.DeleteRangeRequest) error {
	if len(q.Key) == 0 {
		return rpctypes.ErrGRPCEmptyKey
	}
	return nil
}

// Txn refuses a transaction with too many operations, with an operation that etcd would refuse
// alone, or that would write a key twice.
func Txn(q *pb.TxnRequest) error {
	if err := checkOps(q, opsMax); err != nil {
		return err
	}
	for _, ops := range [][]*pb.RequestOp{q.Success, q.Failure} {
		if len(ops) == 0 || len(ops) == 1 && ops[0].GetRequestTxn() == nil {
			continue // as nearly all transactions
		}
		if _, _, err := written(ops); err != nil {
			return err
		}
	}
	return nil
}

// checkOps checks the operations of a transaction. Nested transactions may have as many
// operations as the longest enclosing list leaves.
func checkOps(q *pb.TxnRequest, most int) error {
	most -= max(len(q.Compare), len(q.Success), len(q.Failure))
	if most < 0 {
		return rpctypes.ErrGRPCTooManyOps
	}
	for _, c := range q.Compare {
		if len(c.Key) == 0 {
			return rpctypes.ErrGRPCEmptyKey
		}
	}
	for _, ops := range [][]*pb.RequestOp{q.Success, q.Failure} {
		for _, op := range ops {
			if err := checkOp(op, most); err != nil {
				return err
			}
		}
	}
	return nil
}

func checkOp(op *pb.RequestOp, most int) error {
	switch r := op.Request.(type) {
	case *pb.RequestOp_RequestRange:
		return Range(r.RequestRange)
	case *pb.RequestOp_RequestPut:
		return Put(r.RequestPut)
	case *pb.RequestOp_RequestDeleteRange:
		return Delete(r.RequestDeleteRange)
	case *pb.RequestOp_RequestTxn:
		return checkOps(r.RequestTxn, most)
	}
	return rpctypes.ErrGRPCKeyNotFound
}

// written returns what a list of operations may put and delete. It is an error if a key would
// be written twice. etcd's rules for this are not symmetric (of two nested transactions, the
// first may put what the second deletes, but not the reverse), so the checks follow its order
// and its own tree.
func written(ops []*pb.RequestOp) (puts map[string]bool, dels adt.IntervalTree, err error) {
	puts, dels = map[string]bool{}, adt.NewIntervalTree()
	for _, op := range ops {
		if d := op.GetRequestDeleteRange(); d != nil {
			dels.Insert(interval(d.Key, d.RangeEnd), struct{}{})
		}
	}
	for _, op := range ops {
		if q := op.GetRequestTxn(); q != nil {
			if err := writtenWithin(q, puts, dels); err != nil {
				return nil, nil, err
			}
		}
	}
	for _, op := range ops {
		if p := op.GetRequestPut(); p != nil {
			if err := writtenOnce(string(p.Key), puts, dels); err != nil {
				return nil, nil, err
			}
		}
	}
	return puts, dels, nil
}

// writtenWithin adds the writes of a nested transaction. Its branches exclude each other.
func writtenWithin(q *pb.TxnRequest, puts map[string]bool, dels adt.IntervalTree) error {
	putsThen, delsThen, err := written(q.Success)
	if err != nil {
		return err
	}
	putsElse, delsElse, err := written(q.Failure)
	if err != nil {
		return err
	}
	for k := range putsThen {
		if err := writtenOnce(k, puts, dels); err != nil {
			return err
		}
	}
	for k := range putsElse {
		if putsThen[k] {
			continue // put, and not deleted, by the other branch
		}
		if err := writtenOnce(k, puts, dels); err != nil {
			return err
		}
	}
	everything := adt.NewStringAffineInterval("\x00", "")
	dels.Union(delsThen, everything)
	dels.Union(delsElse, everything)
	return nil
}

func writtenOnce(key string, puts map[string]bool, dels adt.IntervalTree) error {
	if puts[key] || dels.Intersects(adt.NewStringAffinePoint(key)) {
		return rpctypes.ErrGRPCDuplicateKey
	}
	puts[key] = true
	return nil
}

func interval(key, end []byte) adt.Interval {
	if len(end) == 0 {
		return adt.NewStringAffinePoint(string(key))
	}
	return adt.NewStringAffineInterval(string(key), string(end))
}
