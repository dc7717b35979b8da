package twin

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// grant creates a lease. The ids are 1, 2, 3…
func (c choices) grant() operation {
	ttl := int64(c(9))
	if ttl == 0 {
		ttl = []int64{1, 0, -1, 9_000_000_001}[c(4)]
	}
	return operation{fmt.Sprintf("grant %d s", ttl), func(p *player) string {
		a, err := p.client.Grant(p.ctx, ttl)
		if err != nil {
			return fmt.Sprintf("%T %v", err, err)
		}
		return fmt.Sprintf("%s lease %d for %d s", a.ResponseHeader, a.ID, a.TTL)
	}}
}

// keepersMax is the maximum number of leases that are kept alive.
const keepersMax = 4

// lease draws an operation on a lease that may exist, or lets time pass.
func (c choices) lease() operation {
	id := clientv3.LeaseID(1 + c(4))
	switch c(8) {
	case 0:
		return operation{"two seconds pass", func(p *player) string { return p.pass(2 * time.Second) }}
	case 1:
		return operation{fmt.Sprintf("revoke %d", id), func(p *player) string {
			a, err := p.client.Revoke(p.ctx, id)
			if err != nil {
				return fmt.Sprintf("%T %v", err, err)
			}
			return a.Header.String()
		}}
	case 2:
		return operation{fmt.Sprintf("renew %d", id), func(p *player) string {
			a, err := p.client.KeepAliveOnce(p.ctx, id)
			return fmt.Sprintf("%+v %T %v", a, err, err)
		}}
	case 3:
		return c.timeLeft(id)
	case 4, 5:
		return operation{fmt.Sprintf("keep %d alive", id), func(p *player) string {
			if len(p.keepers) == keepersMax {
				return ""
			}
			return p.keepAlive(id)
		}}
	case 6:
		if c(4) == 3 {
			return operation{"a quarter of an hour passes", (*player).passLong}
		}
		n := c(keepersMax)
		return operation{fmt.Sprintf("end keeper %d", n), func(p *player) string {
			if n < len(p.keepers) {
				p.keepers[n].cancel()
			}
			return ""
		}}
	}
	return operation{"all leases", func(p *player) string {
		a, err := p.client.Leases(p.ctx)
		if err != nil {
			return fmt.Sprintf("%T %v", err, err)
		}
		slices.SortFunc(a.Leases, func(a, b clientv3.LeaseStatus) int { return cmp.Compare(a.ID, b.ID) }) // etcd's order is random for leases that end together
		return fmt.Sprintf("%s %v", a.ResponseHeader, a.Leases)
	}}
}

func (c choices) timeLeft(id clientv3.LeaseID) operation {
	var opts []clientv3.LeaseOption
	if c.yes() {
		opts = append(opts, clientv3.WithAttachedKeys())
	}
	return operation{fmt.Sprintf("time left of %d, keys: %t", id, len(opts) > 0), func(p *player) string {
		a, err := p.client.TimeToLive(p.ctx, id, opts...)
		if err != nil {
			return fmt.Sprintf("%T %v", err, err)
		}
		slices.SortFunc(a.Keys, slices.Compare) // etcd's order is random
		return fmt.Sprintf("%s lease %d: %d of %d s, keys %q", a.ResponseHeader, a.ID, a.TTL, a.GrantedTTL, a.Keys)
	}}
}

// pass lets time pass before the next operation.
func (p *player) pass(d time.Duration) string {
	p.next = p.next.Add(d)
	return ""
}

// passLong lets enough time pass for exactly one progress notification of every stream,
// whatever random part etcd adds to its ten minutes.
func (p *player) passLong() string {
	if p.slept {
		return ""
	}
	p.slept = true
	return p.pass(15 * time.Minute)
}
