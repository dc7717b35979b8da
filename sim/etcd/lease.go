package etcd

import (
	"context"
	"maps"
	"slices"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// leases gives etcd's leases ids that repeat and terms that run in virtual time:
// beneath lies a lease without end, and a timer of the bubble revokes it.
type leases struct{ r *Run }

var _ clientv3.Lease = (*leases)(nil)

type lease struct {
	ttl   int64 // seconds, as granted
	ends  time.Time
	timer *time.Timer
}

// ttlMin is etcd's least term with its default election time-out of one second.
const ttlMin = 2

func (c *leases) header() *pb.ResponseHeader {
	return &pb.ResponseHeader{ClusterId: 1, MemberId: 1, RaftTerm: 2, Revision: c.r.Revision()}
}

// Grant creates a lease that ends ttl virtual seconds from now, to the
// nanosecond; etcd itself may take half a second longer to notice.
func (c *leases) Grant(ctx context.Context, ttl int64) (*clientv3.LeaseGrantResponse, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	ttl = max(ttl, ttlMin)
	r := c.r
	r.mu.Lock()
	r.grants++
	id := clientv3.LeaseID(r.grants)
	err := r.callLocked(func(s store) error { return s.grant(int64(id)) })
	if err == nil {
		term := time.Duration(ttl) * time.Second
		r.leases[id] = &lease{ttl: ttl, ends: time.Now().Add(term), timer: time.AfterFunc(term, func() { _ = r.expire(id) })}
	}
	r.mu.Unlock()
	if err != nil {
		return nil, err
	}
	return &clientv3.LeaseGrantResponse{ResponseHeader: c.header(), ID: id, TTL: ttl}, nil
}

// expire ends a lease and deletes its keys, in one revision.
func (r *Run) expire(id clientv3.LeaseID) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	l := r.leases[id]
	if l == nil {
		return rpctypes.ErrLeaseNotFound
	}
	l.timer.Stop()
	delete(r.leases, id)
	return r.callLocked(func(s store) error { return s.revoke(int64(id)) })
}

// Revoke ends a lease now.
func (c *leases) Revoke(ctx context.Context, id clientv3.LeaseID) (*clientv3.LeaseRevokeResponse, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := c.r.expire(id); err != nil {
		return nil, err
	}
	return &clientv3.LeaseRevokeResponse{Header: c.header()}, nil
}

// TimeToLive always lists the attached keys.
func (c *leases) TimeToLive(ctx context.Context, id clientv3.LeaseID, _ ...clientv3.LeaseOption) (*clientv3.LeaseTimeToLiveResponse, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	resp := &clientv3.LeaseTimeToLiveResponse{ResponseHeader: c.header(), ID: id, TTL: -1}
	c.r.mu.Lock()
	defer c.r.mu.Unlock()
	l := c.r.leases[id]
	if l == nil {
		return resp, nil
	}
	resp.TTL, resp.GrantedTTL = int64(time.Until(l.ends)/time.Second), l.ttl
	c.r.history.ascend([]byte{0}, []byte{0}, func(kv *mvccpb.KeyValue) {
		if kv.Lease == int64(id) {
			resp.Keys = append(resp.Keys, kv.Key)
		}
	})
	return resp, nil
}

// Leases lists the living leases by id.
func (c *leases) Leases(ctx context.Context) (*clientv3.LeaseLeasesResponse, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	resp := &clientv3.LeaseLeasesResponse{ResponseHeader: c.header()}
	c.r.mu.Lock()
	defer c.r.mu.Unlock()
	for _, id := range slices.Sorted(maps.Keys(c.r.leases)) {
		resp.Leases = append(resp.Leases, clientv3.LeaseStatus{ID: id})
	}
	return resp, nil
}

// KeepAliveOnce starts the term anew.
func (c *leases) KeepAliveOnce(ctx context.Context, id clientv3.LeaseID) (*clientv3.LeaseKeepAliveResponse, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	h := c.header()
	c.r.mu.Lock()
	defer c.r.mu.Unlock()
	l := c.r.leases[id]
	if l == nil || c.r.ended {
		return nil, rpctypes.ErrLeaseNotFound
	}
	term := time.Duration(l.ttl) * time.Second
	l.ends = time.Now().Add(term)
	l.timer.Reset(term)
	return &clientv3.LeaseKeepAliveResponse{ResponseHeader: h, ID: id, TTL: l.ttl}, nil
}

// KeepAlive renews the lease every third of its term until ctx or the lease ends.
func (c *leases) KeepAlive(ctx context.Context, id clientv3.LeaseID) (<-chan *clientv3.LeaseKeepAliveResponse, error) {
	first, err := c.KeepAliveOnce(ctx, id)
	if err != nil {
		return nil, err
	}
	out := make(chan *clientv3.LeaseKeepAliveResponse, clientv3.LeaseResponseChSize)
	out <- first
	go func() {
		defer close(out)
		t := time.NewTicker(time.Duration(first.TTL) * time.Second / 3)
		defer t.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-t.C:
			}
			resp, err := c.KeepAliveOnce(ctx, id)
			if err != nil {
				return
			}
			select {
			case out <- resp:
			default: // as etcd's own client: a reader that is slow misses some
			}
		}
	}()
	return out, nil
}

// Close does nothing: timers end with the run.
func (c *leases) Close() error { return nil }
