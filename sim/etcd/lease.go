package etcd

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	lessor "go.etcd.io/etcd/server/v3/lease"
	"google.golang.org/grpc"
)

// leases is the server's side of etcd's lease protocol, with repeatable ids and terms in
// virtual time: below is a lease without end, and a timer of the bubble revokes it. The
// client's side is etcd's own.
//
// Package twin compares it with etcd.
//
// Source: lease/lessor.go, etcdserver/v3_server.go and etcdserver/api/v3rpc/lease.go
// (etcd v3.6).
type leases struct{ r *Run }

var _ pb.LeaseClient = (*leases)(nil)

type lease struct {
	id, ttl int64 // seconds, as granted
	ends    time.Time
	timer   *time.Timer
	over    chan struct{} // made in the bubble
}

const (
	// ttlMin is etcd's minimum term, seconds, with its default election time-out of one.
	ttlMin = 2
	// lookPeriod is how often etcd checks for expired leases.
	lookPeriod = 500 * time.Millisecond
)

// restart starts the term again, ttl virtual seconds from now.
func (l *lease) restart() {
	l.ends = time.Now().Add(time.Duration(l.ttl) * time.Second)
	l.timer.Reset(time.Until(l.found()))
}

// found is when etcd detects that the lease has expired: its checks began with the run.
func (l *lease) found() time.Time {
	at := l.ends.Truncate(lookPeriod)
	if at.Before(l.ends) {
		at = at.Add(lookPeriod)
	}
	return at
}

// LeaseGrant creates a lease. Its keys exist until etcd detects its end, up to half a second
// later.
func (c *leases) LeaseGrant(ctx context.Context, q *pb.LeaseGrantRequest, _ ...grpc.CallOption) (*pb.LeaseGrantResponse, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	r := c.r
	if r.Refuse != nil {
		if err := r.Refuse(q); err != nil {
			return nil, err
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.grants++
	if q.TTL > lessor.MaxLeaseTTL {
		return nil, rpctypes.ErrGRPCLeaseTTLTooLarge
	}
	l := &lease{id: r.grants, ttl: max(q.TTL, ttlMin), over: make(chan struct{})}
	if err := r.callLocked(func(s store) error { return s.grant(l.id) }); err != nil {
		return nil, err
	}
	l.timer = time.AfterFunc(time.Hour, func() { _ = r.expire(l.id) })
	l.restart()
	r.leases[l.id] = l
	return &pb.LeaseGrantResponse{Header: r.header(), ID: l.id, TTL: l.ttl}, nil
}

// header returns the header of a response. The caller holds the lock.
func (r *Run) header() *pb.ResponseHeader {
	return header(r.history.last)
}

// expire ends a lease and deletes its keys, in one revision.
func (r *Run) expire(id int64) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.expireLocked(id)
}

func (r *Run) expireLocked(id int64) error {
	l := r.leases[id]
	if l == nil {
		return rpctypes.ErrGRPCLeaseNotFound
	}
	l.timer.Stop()
	close(l.over)
	delete(r.leases, id)
	return r.callLocked(func(s store) error { return s.revoke(id) })
}

// LeaseRevoke ends a lease now.
func (c *leases) LeaseRevoke(ctx context.Context, q *pb.LeaseRevokeRequest, _ ...grpc.CallOption) (*pb.LeaseRevokeResponse, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	c.r.mu.Lock()
	defer c.r.mu.Unlock()
	if err := c.r.expireLocked(q.ID); err != nil {
		return nil, err
	}
	return &pb.LeaseRevokeResponse{Header: c.r.header()}, nil
}

// LeaseTimeToLive lists the attached keys sorted; etcd's order is that of a map.
func (c *leases) LeaseTimeToLive(ctx context.Context, q *pb.LeaseTimeToLiveRequest, _ ...grpc.CallOption) (*pb.LeaseTimeToLiveResponse, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	c.r.mu.Lock()
	defer c.r.mu.Unlock()
	a := &pb.LeaseTimeToLiveResponse{Header: c.r.header(), ID: q.ID, TTL: -1}
	l := c.r.leases[q.ID]
	if l == nil {
		return a, nil
	}
	a.TTL, a.GrantedTTL = int64(time.Until(l.ends)/time.Second), l.ttl
	if !q.Keys {
		return a, nil
	}
	c.r.history.ascend([]byte{0}, []byte{0}, func(kv *mvccpb.KeyValue) {
		if kv.Lease == q.ID {
			a.Keys = append(a.Keys, kv.Key)
		}
	})
	return a, nil
}

// LeaseLeases lists the active leases, by end.
func (c *leases) LeaseLeases(ctx context.Context, _ *pb.LeaseLeasesRequest, _ ...grpc.CallOption) (*pb.LeaseLeasesResponse, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	c.r.mu.Lock()
	defer c.r.mu.Unlock()
	a := &pb.LeaseLeasesResponse{Header: c.r.header()}
	for _, l := range slices.SortedFunc(maps.Values(c.r.leases), func(a, b *lease) int { return cmp.Or(a.ends.Compare(b.ends), cmp.Compare(a.id, b.id)) }) {
		a.Leases = append(a.Leases, &pb.LeaseStatus{ID: l.id})
	}
	return a, nil
}

// LeaseKeepAlive opens a stream of renewals.
func (c *leases) LeaseKeepAlive(ctx context.Context, _ ...grpc.CallOption) (pb.Lease_LeaseKeepAliveClient, error) {
	return &renewals{ctx: ctx, r: c.r, asked: make(chan int64, renewalsBuffer)}, nil
}

// renewals is a stream of lease renewals.
type renewals struct {
	grpc.ClientStream // nil
	ctx               context.Context
	r                 *Run
	asked             chan int64
}

// renewalsBuffer is how many requests may wait; further senders block.
const renewalsBuffer = 16

func (s *renewals) Context() context.Context { return s.ctx }
func (s *renewals) CloseSend() error         { return nil }

func (s *renewals) Send(q *pb.LeaseKeepAliveRequest) error {
	select {
	case s.asked <- q.ID:
		return nil
	case <-s.ctx.Done():
		return s.ctx.Err()
	}
}

func (s *renewals) Recv() (*pb.LeaseKeepAliveResponse, error) {
	select {
	case id := <-s.asked:
		return s.r.renew(s.ctx, id)
	case <-s.ctx.Done():
		return nil, s.ctx.Err()
	}
}

// renew starts the term of a lease again. For an expired lease it waits for its end, as etcd
// does; a term of zero reports a missing lease.
func (r *Run) renew(ctx context.Context, id int64) (*pb.LeaseKeepAliveResponse, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	a := &pb.LeaseKeepAliveResponse{Header: r.header(), ID: id}
	if r.ended {
		return nil, ErrEnded
	}
	l := r.leases[id]
	if l != nil && !l.ends.After(time.Now()) {
		r.mu.Unlock()
		select {
		case <-l.over:
		case <-ctx.Done():
		}
		r.mu.Lock()
		return a, ctx.Err()
	}
	if l != nil {
		l.restart()
		a.TTL = l.ttl
	}
	return a, nil
}
