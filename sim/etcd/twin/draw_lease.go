package twin

import (
	"fmt"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// grant makes a lease. Their numbers are 1, 2, 3…
func (c choices) grant() operation {
	ttl := int64(1 + c(8))
	return operation{fmt.Sprintf("grant %d s", ttl), func(p *player) string {
		a, err := p.client.Grant(p.ctx, ttl)
		if err != nil {
			return err.Error()
		}
		return fmt.Sprintf("%s lease %d for %d s", a.ResponseHeader, a.ID, a.TTL)
	}}
}

// lease does something with one that may be there, or lets time pass.
func (c choices) lease() operation {
	id := clientv3.LeaseID(1 + c(4))
	switch c(5) {
	case 0:
		return operation{"two seconds pass", func(*player) string { time.Sleep(2 * time.Second); return "" }}
	case 1:
		return operation{fmt.Sprintf("revoke %d", id), func(p *player) string {
			a, err := p.client.Revoke(p.ctx, id)
			if err != nil {
				return err.Error()
			}
			return a.Header.String()
		}}
	case 2:
		return operation{fmt.Sprintf("renew %d", id), func(p *player) string {
			a, err := p.client.KeepAliveOnce(p.ctx, id)
			return fmt.Sprintf("%+v %v", a, err)
		}}
	case 3:
		return operation{fmt.Sprintf("time left of %d", id), func(p *player) string {
			a, err := p.client.TimeToLive(p.ctx, id, clientv3.WithAttachedKeys())
			return fmt.Sprintf("%+v %v", a, err)
		}}
	}
	return operation{"all leases", func(p *player) string {
		a, err := p.client.Leases(p.ctx)
		return fmt.Sprintf("%+v %v", a, err)
	}}
}
