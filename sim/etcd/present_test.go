package etcd

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/protobuf/testing/protocmp"
)

// What the bridge answers by itself is what etcd answers, field by field, after
// writes, transactions, deletions, leases that end, and compactions.
func TestPresentIsEtcds(t *testing.T) {
	onEtcd(t, func(ctx context.Context, r *Run, c *clientv3.Client) {
		rng := rand.New(rand.NewPCG(1, 2))
		key := func() string { return fmt.Sprint("k", rng.IntN(6)) }
		for i := range 400 {
			switch v := fmt.Sprint(i); rng.IntN(7) {
			case 0, 1:
				must(c.Put(ctx, key(), v))
			case 2:
				must(c.Delete(ctx, key()))
			case 3:
				must(c.Txn(ctx).If(clientv3.Compare(clientv3.Version(key()), ">", 1)).
					Then(clientv3.OpPut("k0", v), clientv3.OpDelete("k1")).Else(clientv3.OpPut("k2", v)).Commit())
			case 4:
				must(c.Put(ctx, key(), v, clientv3.WithLease(must(c.Grant(ctx, 5)).ID)))
			case 5:
				time.Sleep(2 * time.Second)
			case 6:
				r.Pump()
				_, _ = c.Compact(ctx, r.Revision())
			}
			asked(t, r, &pb.RangeRequest{Key: []byte(key())})
			asked(t, r, &pb.RangeRequest{Key: []byte(key()), RangeEnd: []byte(key()), Limit: rng.Int64N(3), KeysOnly: rng.IntN(3) == 0, CountOnly: rng.IntN(3) == 0})
			asked(t, r, &pb.RangeRequest{Key: []byte{0}, RangeEnd: []byte{0}})
		}
	})
}

func asked(t *testing.T, r *Run, q *pb.RangeRequest) {
	t.Helper()
	ours := must(r.present(q))
	etcds := must(hop(context.Background(), r, q, store.Range))
	r.base.rangeOut(etcds)
	if diff := cmp.Diff(etcds, ours, protocmp.Transform()); diff != "" {
		t.Fatalf("%s (-etcd +ours):\n%s", q, diff)
	}
}

// A read that asks for anything but keys as they are now, by key, goes to etcd.
func TestPlain(t *testing.T) {
	key := []byte("a")
	for _, q := range []*pb.RangeRequest{
		{}, {Key: key, Revision: 3}, {Key: key, SortTarget: pb.RangeRequest_MOD}, {Key: key, SortOrder: pb.RangeRequest_DESCEND},
		{Key: key, MinModRevision: 2}, {Key: key, MaxModRevision: 2}, {Key: key, MinCreateRevision: 2}, {Key: key, MaxCreateRevision: 2},
	} {
		if plain(q) {
			t.Errorf("%v", q)
		}
	}
	for _, q := range []*pb.RangeRequest{{Key: key, Serializable: true}, {Key: key, RangeEnd: []byte("b"), Limit: 2, CountOnly: true}} {
		if !plain(q) {
			t.Errorf("%v", q)
		}
	}
}

// A bridge that believes something else than etcd is found out at the end of the run.
func TestBridgeLosesTrack(t *testing.T) {
	onEtcd(t, func(ctx context.Context, r *Run, c *clientv3.Client) {
		must(c.Put(ctx, "a", "1"))
		must(r.Digest())
		r.history.now([]byte("a")).Value = []byte("2")
		if d, err := r.Digest(); err == nil || d != "" {
			t.Errorf("digest %s, %v", d, err)
		}
	})
}
