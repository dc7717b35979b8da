package etcd

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// A client of Direct, which bypasses the bridge, sees an empty etcd. Direct ends the run
// before, and what the client writes is not visible in the next run.
func TestDirect(t *testing.T) {
	ctx := context.Background()
	for _, localReads := range []bool{false, true} {
		var before, after []string
		var old *Run
		onEtcd(t, func(ctx context.Context, r *Run, c *clientv3.Client) { old, before = r, story(ctx, r, c) })
		c, end, err := server.Direct(localReads)
		if err != nil {
			t.Fatal(err)
		}
		if n := must(c.Get(ctx, "", clientv3.WithPrefix())).Count; n != 0 {
			t.Errorf("%d keys of the run before", n)
		}
		for range 300 { // more writes than the tap of a run could hold
			must(c.Put(ctx, "a", "direct"))
		}
		if kv := must(c.Get(ctx, "a")).Kvs[0]; string(kv.Value) != "direct" || kv.Version != 300 {
			t.Errorf("have %+v", kv)
		}
		if _, err := old.Digest(); !errors.Is(err, ErrEnded) {
			t.Errorf("the run before still reads: %v", err)
		}
		if err := end(); err != nil {
			t.Fatal(err)
		}
		onEtcd(t, func(ctx context.Context, r *Run, c *clientv3.Client) { after = story(ctx, r, c) })
		if diff := cmp.Diff(before, after); diff != "" {
			t.Errorf("local reads %v: the run after differs (-before +after):\n%s", localReads, diff)
		}
	}
}
