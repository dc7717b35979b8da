package kube

import (
	"slices"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
)

// NoSpace switches etcd's alarm NOSPACE: etcd refuses requests that would make it grow (a put,
// a transaction with a put, a new lease) of every client. Reads and deletions continue.
//
// Source: etcd, server/v3/etcdserver/apply/capped.go:24, applierV3Capped;
// server/v3/storage/quota.go:161, costTxn (v3.7.3).
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
		if puts(q) {
			return rpctypes.ErrGRPCNoSpace
		}
	}
	return nil
}

// puts reports whether a transaction, or one in it, has a put.
func puts(q *pb.TxnRequest) bool {
	return slices.ContainsFunc(slices.Concat(q.GetSuccess(), q.GetFailure()), func(o *pb.RequestOp) bool {
		return o.GetRequestPut() != nil || o.GetRequestTxn() != nil && puts(o.GetRequestTxn())
	})
}
