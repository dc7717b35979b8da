package kube

import (
	"slices"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
)

// NoSpace has etcd refuse what would make it grow, as with an alarm NOSPACE, or no longer: a
// put, a transaction with one, a new lease, of every client. Reads and deletions go on.
//
// Source: etcd, server/v3/etcdserver/apply/apply.go:244, applierV3Capped;
// server/v3/storage/quota.go:159, costTxn (v3.6.4).
func (s *Server) NoSpace(on bool) {
	s.store.Refuse = nil
	if on {
		s.store.Refuse = noSpace
	}
}

func noSpace(request any) error {
	switch q := request.(type) {
	case *pb.PutRequest, *pb.LeaseGrantRequest:
		return rpctypes.ErrGRPCNoSpace
	case *pb.TxnRequest:
		if slices.ContainsFunc(slices.Concat(q.Success, q.Failure), func(o *pb.RequestOp) bool { return o.GetRequestPut() != nil }) {
			return rpctypes.ErrGRPCNoSpace
		}
	}
	return nil
}
