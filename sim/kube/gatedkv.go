package kube

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"ipamsim/sim"
	"ipamsim/sim/kube/answer"
	"ipamsim/sim/way"
)

// gatedKV is a Peer's KV client of etcd: each request is a message at its gate.
//
// A read fails only with its process, because etcd's client retries it until it succeeds. It
// does not retry a write, which may have been executed: see package answer. A watch that loses
// its connection resumes by itself.
//
// Source: etcd, client/v3/retry.go, isSafeRetryMutableRPC (v3.6).
type gatedKV struct {
	pb.KVClient
	g    *sim.Gate
	late atomic.Int64 // writes attempted after the end of the process
}

// lateMax is the number of writes that a process may attempt after its end. The allocator of
// cluster IPs tries the next address after each error, of 2^64 in an IPv6 range of /64: the
// request is then ended by the panic with which Go's HTTP server aborts a handler.
const lateMax = 50

// Range is one message.
func (d *gatedKV) Range(ctx context.Context, q *pb.RangeRequest, o ...grpc.CallOption) (out *pb.RangeResponse, err error) {
	at := storedAt("get", q.Key)
	if len(q.RangeEnd) > 0 {
		at.Verb = "list"
	}
	err = d.g.Pass(ctx, sim.Op{Kind: sim.Read, Request: at.request()}, func(ctx context.Context) (err error) {
		if out, err = d.KVClient.Range(ctx, q, o...); err == nil && at.Verb == "get" && len(out.Kvs) == 1 {
			at.Object, at.Revision = out.Kvs[0].Value, out.Kvs[0].ModRevision
		}
		sim.Report(ctx, at.note(err), at)
		return err
	})
	return out, err
}

// Txn is one message. Transactions of Kubernetes compare a key's revision and write that key.
func (d *gatedKV) Txn(ctx context.Context, q *pb.TxnRequest, o ...grpc.CallOption) (out *pb.TxnResponse, err error) {
	at := written(q)
	op := sim.Op{Kind: sim.Write, Faults: sim.Of(sim.FailBefore, sim.LoseReply), Request: at.request()}
	op.Fails, op.Loses = answer.Ways(answer.Etcd, answer.Write)
	err = d.g.Pass(ctx, op, func(ctx context.Context) (err error) {
		if out, err = d.KVClient.Txn(ctx, q, o...); err == nil {
			if at.Conflict = !out.Succeeded; !at.Conflict {
				at.Revision = out.Header.Revision
			}
		}
		sim.Report(ctx, at.note(err), at)
		return err
	})
	if errors.Is(err, sim.ErrKilled) && d.late.Add(1) > lateMax {
		panic(http.ErrAbortHandler)
	}
	if f := new(sim.Fault); errors.As(err, &f) {
		return nil, etcdError(ctx, f)
	}
	return out, err
}

// etcdError returns the error of etcd's client for a write.
func etcdError(ctx context.Context, f *sim.Fault) error {
	a := answer.Of(answer.Etcd, answer.Write, way.Way(f.Level))
	if err := a.Wait(ctx); ctx.Err() != nil {
		return err
	}
	return status.Error(codes.Unavailable, a.Message)
}

// written returns what a transaction writes.
func written(q *pb.TxnRequest) Stored {
	at := Stored{Verb: "txn"}
	for _, c := range q.Compare {
		at.If = c.GetModRevision()
	}
	for _, op := range q.Success {
		switch r := op.Request.(type) {
		case *pb.RequestOp_RequestPut:
			verb := "update"
			if at.If == 0 {
				verb = "create"
			}
			at = Stored{Verb: verb, If: at.If, Object: r.RequestPut.Value}.named(r.RequestPut.Key)
		case *pb.RequestOp_RequestDeleteRange:
			at = Stored{Verb: "delete", If: at.If}.named(r.RequestDeleteRange.Key)
		}
	}
	return at
}

func (s *Stored) note(err error) string {
	switch {
	case err != nil:
		return err.Error()
	case s.Conflict:
		return "conflict"
	case s.Revision != 0:
		return fmt.Sprintf("rv=%d", s.Revision)
	}
	return "ok"
}
