package etcd

import (
	"context"
	"maps"
	"slices"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"

	"ipamsim/sim/etcd/check"
)

// memory is the memory store: etcd's semantics over the run's own history, without log, disk,
// or calls outside of the bubble. Revisions are relative, responses have the bridge's header,
// and pairs are not copied: they are immutable.
//
// Package twin compares it with etcd.
//
// Source: etcdserver/txn and storage/mvcc (etcd v3.6).
type memory struct {
	pb.UnimplementedKVServer
	*history
	leases map[int64]map[string]bool // the attached keys of each
	begin  int64                     // revision before the running transaction
}

var _ store = (*memory)(nil)

func newMemory(h *history) *memory { return &memory{history: h, leases: map[int64]map[string]bool{}} }

func (m *memory) header() *pb.ResponseHeader {
	return &pb.ResponseHeader{ClusterId: 1, MemberId: 1, RaftTerm: 2, Revision: m.last}
}

func (m *memory) Range(_ context.Context, q *pb.RangeRequest) (*pb.RangeResponse, error) {
	if err := check.Range(q); err != nil {
		return nil, err
	}
	if err := m.readable(q.Revision); err != nil {
		return nil, err
	}
	return m.read(q), nil
}

// readable returns the error of a read at a revision.
func (m *memory) readable(rev int64) error {
	switch {
	case rev > m.last:
		return rpctypes.ErrGRPCFutureRev
	case rev > 0 && rev < m.oldest():
		return rpctypes.ErrGRPCCompacted
	}
	return nil
}

// oldest returns the oldest revision that can be read.
func (m *memory) oldest() int64 { return max(1, m.compacted) }

func (m *memory) Put(_ context.Context, q *pb.PutRequest) (*pb.PutResponse, error) {
	if err := check.Put(q); err != nil {
		return nil, err
	}
	if err := check.Size(&pb.InternalRaftRequest{Put: q}, len(q.Key)+len(q.Value)); err != nil {
		return nil, err
	}
	if err := m.leased(q); err != nil {
		return nil, err
	}
	if err := m.previous(q); err != nil {
		return nil, err
	}
	m.begin = m.last
	return m.put(q), nil
}

// leased refuses a put with a missing lease.
func (m *memory) leased(q *pb.PutRequest) error {
	if q.Lease != 0 && m.leases[q.Lease] == nil {
		return rpctypes.ErrGRPCLeaseNotFound
	}
	return nil
}

// previous refuses a put that keeps a part of a missing pair.
func (m *memory) previous(q *pb.PutRequest) error {
	if (q.IgnoreValue || q.IgnoreLease) && m.now(q.Key) == nil {
		return rpctypes.ErrGRPCKeyNotFound
	}
	return nil
}

func (m *memory) put(q *pb.PutRequest) *pb.PutResponse {
	prev := m.now(q.Key)
	kv := &mvccpb.KeyValue{Key: q.Key, Value: q.Value, Lease: q.Lease, CreateRevision: m.begin + 1, ModRevision: m.begin + 1, Version: 1}
	if len(kv.Value) == 0 {
		kv.Value = nil // as it comes off the wire
	}
	if prev != nil {
		kv.CreateRevision, kv.Version = prev.CreateRevision, prev.Version+1
		if q.IgnoreValue {
			kv.Value = prev.Value
		}
		if q.IgnoreLease {
			kv.Lease = prev.Lease
		}
	}
	m.attach(prev, kv)
	m.file(mvccpb.PUT, kv, time.Now())
	a := &pb.PutResponse{Header: m.header()}
	if q.PrevKv {
		a.PrevKv = prev
	}
	return a
}

// attach moves a key from the lease of its old pair to that of its new one; either may be nil.
func (m *memory) attach(old, kv *mvccpb.KeyValue) {
	if old != nil && old.Lease != 0 {
		delete(m.leases[old.Lease], string(old.Key))
	}
	if kv != nil && kv.Lease != 0 {
		m.leases[kv.Lease][string(kv.Key)] = true
	}
}

func (m *memory) DeleteRange(_ context.Context, q *pb.DeleteRangeRequest) (*pb.DeleteRangeResponse, error) {
	if err := check.Delete(q); err != nil {
		return nil, err
	}
	if err := check.Size(&pb.InternalRaftRequest{DeleteRange: q}, len(q.Key)+len(q.RangeEnd)); err != nil {
		return nil, err
	}
	m.begin = m.last
	return m.deleteRange(q), nil
}

func (m *memory) deleteRange(q *pb.DeleteRangeRequest) *pb.DeleteRangeResponse {
	var found []*mvccpb.KeyValue
	m.ascend(q.Key, q.RangeEnd, func(kv *mvccpb.KeyValue) { found = append(found, kv) })
	for _, kv := range found {
		m.remove(kv)
	}
	a := &pb.DeleteRangeResponse{Header: m.header(), Deleted: int64(len(found))}
	if q.PrevKv {
		a.PrevKvs = found
	}
	return a
}

func (m *memory) remove(kv *mvccpb.KeyValue) {
	m.attach(kv, nil)
	m.file(mvccpb.DELETE, &mvccpb.KeyValue{Key: kv.Key, ModRevision: m.begin + 1}, time.Now())
}

// Compact only checks the request: the bridge compacts the history after its watches got their
// events.
func (m *memory) Compact(_ context.Context, q *pb.CompactionRequest) (*pb.CompactionResponse, error) {
	switch {
	case q.Revision <= m.compacted:
		return nil, rpctypes.ErrGRPCCompacted
	case q.Revision > m.last:
		return nil, rpctypes.ErrGRPCFutureRev
	}
	return &pb.CompactionResponse{Header: m.header()}, nil
}

func (m *memory) grant(lease int64) error {
	m.leases[lease] = map[string]bool{}
	return nil
}

// revoke deletes the keys of a lease in one revision, by key.
func (m *memory) revoke(lease int64) error {
	keys, ok := m.leases[lease]
	if !ok {
		return rpctypes.ErrGRPCLeaseNotFound
	}
	m.begin = m.last
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		m.remove(m.keys[key].now)
	}
	delete(m.leases, lease)
	return nil
}

// events returns none: events are recorded as they happen.
func (m *memory) events() []*mvccpb.Event { return nil }

// wipe does nothing: every run has its own store.
func (m *memory) wipe() (int64, error) { return 1, nil }

func (m *memory) close() {}

// RangeStream answers in one piece.
func (m *memory) RangeStream(q *pb.RangeRequest, to pb.KV_RangeStreamServer) error {
	a, err := m.Range(to.Context(), q)
	if err != nil {
		return err
	}
	return to.Send(&pb.RangeStreamResponse{RangeResponse: a})
}
