package twin

import (
	"context"
	"errors"
	"fmt"

	clientv3 "go.etcd.io/etcd/client/v3"

	"ipamsim/sim/etcd"
)

// bridge is one of our stores: etcd under the bridge, or the memory store.
type bridge struct {
	*etcd.Run
	player *player
	sum    string // at the end
}

// on plays the program on one of our stores. sum is the result that only our stores have.
func (p Program) on(run *etcd.Run) (answers []string, sum string, err error) {
	b := &bridge{Run: run}
	answers, err = p.play(1, func(p *player) (store, *clientv3.Client, error) {
		b.player = p
		run.OnEvent(p.hear)
		return b, run.Client(), nil
	})
	return answers, b.sum, err
}

func (b *bridge) revision() int64          { return b.Revision() }
func (b *bridge) pump() bool               { return b.Pump() }
func (b *bridge) plain(text string) string { return text }

func (b *bridge) stale(rev int64, key string, opts []clientv3.OpOption) (*clientv3.GetResponse, error) {
	return b.player.client.Get(etcd.AtRevision(b.player.ctx, rev), key, opts...)
}

func (b *bridge) scan(prefix string, f func(key string, value []byte, rev int64)) error {
	b.Scan(prefix, f)
	return nil
}

// end also records results that plain etcd does not have: the number of calls and the digest.
func (b *bridge) end() error {
	digest, err := b.Digest()
	b.sum = fmt.Sprintf("%d calls, digest %s", b.Calls(), digest)
	return errors.Join(err, b.player.client.Lease.Close())
}

// beneath returns a context for reads of the store below the bridge.
func (p *player) beneath() (context.Context, bool) {
	_, ours := p.store.(*bridge)
	return etcd.Beneath(p.ctx), ours
}
