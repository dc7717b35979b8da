package etcd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
)

var server *Server

func TestMain(m *testing.M) {
	var err error
	if server, err = Start(); err != nil {
		panic(err)
	}
	code := m.Run()
	if err := server.Close(); err != nil {
		panic(err)
	}
	if _, err := os.Stat(server.dir); !os.IsNotExist(err) {
		panic("etcd left its directory behind: " + server.dir)
	}
	os.Exit(code)
}

// run gives f a fresh store inside a bubble, first of etcd and then the fast one.
func run(tb testing.TB, f func(ctx context.Context, r *Run, c *clientv3.Client)) {
	onEtcd(tb, f)
	inMemory(tb, f)
}

func onEtcd(_ testing.TB, f func(ctx context.Context, r *Run, c *clientv3.Client)) {
	in(must(server.Begin()), f)
}

func inMemory(_ testing.TB, f func(ctx context.Context, r *Run, c *clientv3.Client)) {
	in(server.BeginMemory(), f)
}

func in(r *Run, f func(ctx context.Context, r *Run, c *clientv3.Client)) {
	synctest.Test(new(testing.T), func(*testing.T) {
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		f(ctx, r, r.Client())
		r.End()
	})
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// story is a run that touches everything that carries a revision, lines as text.
func story(ctx context.Context, r *Run, c *clientv3.Client) (out []string) {
	say := func(what string, v any, err error) { out = append(out, fmt.Sprintf("%s: %+v %v", what, v, err)) }
	put, err := c.Put(ctx, "a", "1")
	say("put", put, err)
	put, err = c.Put(ctx, "a", "2", clientv3.WithPrevKV())
	say("put again", put, err)
	txn, err := c.Txn(ctx).If(clientv3.Compare(clientv3.ModRevision("a"), "=", 3), clientv3.Compare(clientv3.CreateRevision("b"), "=", 0)).
		Then(clientv3.OpPut("b", "1"), clientv3.OpTxn(
			[]clientv3.Cmp{clientv3.Compare(clientv3.CreateRevision("a"), "=", 2)},
			[]clientv3.Op{clientv3.OpGet("a", clientv3.WithRev(2))}, nil)).
		Else(clientv3.OpGet("a")).Commit()
	say("txn", txn, err)
	get, err := c.Get(ctx, "", clientv3.WithPrefix(), clientv3.WithMinModRev(4))
	say("what changed since 4", get, err)
	get, err = c.Get(ctx, "a", clientv3.WithRev(2))
	say("a at 2", get, err)
	get, err = c.Get(ctx, "a", clientv3.WithRev(99))
	say("a in the future", get, err)
	del, err := c.Delete(ctx, "a", clientv3.WithPrevKV())
	say("delete", del, err)
	lease, err := c.Grant(ctx, 10)
	say("lease", lease, err)
	put, err = c.Put(ctx, "l", "leased", clientv3.WithLease(lease.ID))
	say("put with lease", put, err)
	say("revision", r.Revision(), nil)
	digest, err := r.Digest()
	say("digest", digest, err)
	return out
}

func TestEveryRunLooksLikeTheFirst(t *testing.T) {
	var first []string
	for i, on := range []func(testing.TB, func(context.Context, *Run, *clientv3.Client)){onEtcd, onEtcd, inMemory, onEtcd, inMemory} {
		var lines []string
		on(t, func(ctx context.Context, r *Run, c *clientv3.Client) { lines = story(ctx, r, c) })
		if i == 0 {
			first = lines
			t.Logf("%v", first)
			continue
		}
		if diff := cmp.Diff(first, lines); diff != "" {
			t.Fatalf("run %d differs from the first (-first +this):\n%s", i, diff)
		}
	}
}

func TestFirstWriteIsRevisionTwo(t *testing.T) {
	run(t, func(ctx context.Context, r *Run, c *clientv3.Client) {
		if got := must(c.Get(ctx, "a")).Header.Revision; got != 1 {
			t.Errorf("an empty store is at revision %d, want 1", got)
		}
		if got := must(c.Put(ctx, "a", "1")).Header.Revision; got != 2 {
			t.Errorf("first write at revision %d, want 2", got)
		}
		kv := must(c.Get(ctx, "a")).Kvs[0]
		if kv.CreateRevision != 2 || kv.ModRevision != 2 || kv.Version != 1 {
			t.Errorf("have %+v", kv)
		}
	})
}

func TestTransactionConflict(t *testing.T) {
	run(t, func(ctx context.Context, r *Run, c *clientv3.Client) {
		seen := must(c.Put(ctx, "a", "1")).Header.Revision
		cas := func(v string) bool {
			return must(c.Txn(ctx).If(clientv3.Compare(clientv3.ModRevision("a"), "=", seen)).Then(clientv3.OpPut("a", v)).Commit()).Succeeded
		}
		if !cas("mine") || cas("too late") {
			t.Error("want the first compare-and-swap to win and the second to lose")
		}
		create := clientv3.Compare(clientv3.CreateRevision("b"), "=", 0)
		if !must(c.Txn(ctx).If(create).Then(clientv3.OpPut("b", "")).Commit()).Succeeded {
			t.Error("create-if-absent failed on an absent key")
		}
		if must(c.Txn(ctx).If(create).Then(clientv3.OpPut("b", "")).Commit()).Succeeded {
			t.Error("create-if-absent succeeded on a present key")
		}
	})
}

func drain(ch clientv3.WatchChan) (out []string) {
	for {
		select {
		case w, ok := <-ch:
			if !ok {
				return append(out, "closed")
			}
			if err := w.Err(); err != nil {
				out = append(out, err.Error())
			}
			for _, e := range w.Events {
				prev := ""
				if e.PrevKv != nil {
					prev = fmt.Sprintf(" was %s@%d", e.PrevKv.Value, e.PrevKv.ModRevision)
				}
				out = append(out, fmt.Sprintf("%s %s=%s@%d%s", e.Type, e.Kv.Key, e.Kv.Value, e.Kv.ModRevision, prev))
			}
		default:
			return out
		}
	}
}

func want(t *testing.T, what string, got []string, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

func TestWatchFromAnOldRevision(t *testing.T) {
	run(t, func(ctx context.Context, r *Run, c *clientv3.Client) {
		must(c.Put(ctx, "a", "1"))
		must(c.Put(ctx, "a", "2"))
		must(c.Put(ctx, "other", "x"))
		old := c.Watch(ctx, "a", clientv3.WithPrefix(), clientv3.WithRev(3), clientv3.WithPrevKV())
		now := c.Watch(ctx, "a")
		want(t, "nothing moves before Pump", drain(old))
		if !r.Pump() {
			t.Error("Pump moved nothing")
		}
		want(t, "from revision 3", drain(old), "PUT a=2@3 was 1@2")
		must(c.Delete(ctx, "a"))
		r.Pump()
		want(t, "the old one goes on", drain(old), "DELETE a=@5 was 2@3")
		want(t, "one from now", drain(now), "DELETE a=@5")
		if r.Pump() {
			t.Error("Pump moved something though nothing was written")
		}
	})
}

func TestSlowReaderLosesNothing(t *testing.T) {
	run(t, func(ctx context.Context, r *Run, c *clientv3.Client) {
		ch := c.Watch(ctx, "", clientv3.WithPrefix())
		for i := range 10 * watchBuffer {
			must(c.Put(ctx, "a", fmt.Sprint(i)))
		}
		n := 0
		for r.Pump() {
			n += len(drain(ch))
		}
		if n != 10*watchBuffer {
			t.Errorf("have %d events, want %d", n, 10*watchBuffer)
		}
	})
}

func TestCompaction(t *testing.T) {
	run(t, func(ctx context.Context, r *Run, c *clientv3.Client) {
		for i := range 5 {
			must(c.Put(ctx, "a", fmt.Sprint(i)))
		}
		r.Pump()
		must(c.Compact(ctx, 4))
		if _, err := c.Get(ctx, "a", clientv3.WithRev(3)); !errors.Is(err, rpctypes.ErrCompacted) {
			t.Errorf("read before the compaction: %v", err)
		}
		if _, err := c.Compact(ctx, 4); !errors.Is(err, rpctypes.ErrCompacted) {
			t.Errorf("compacting twice: %v", err)
		}
		late := c.Watch(ctx, "a", clientv3.WithRev(3))
		good := c.Watch(ctx, "a", clientv3.WithRev(5))
		last := c.Watch(ctx, "a", clientv3.WithRev(4), clientv3.WithPrevKV())
		r.Pump()
		want(t, "watch before it", drain(late), rpctypes.ErrCompacted.Error(), "closed")
		want(t, "watch from it", drain(last), "PUT a=2@4", "PUT a=3@5 was 2@4", "PUT a=4@6 was 3@5")
		want(t, "watch after it", drain(good), "PUT a=3@5", "PUT a=4@6")
		if len(r.history.log) != 3 {
			t.Errorf("history holds %d entries, want the 3 from the compaction on", len(r.history.log))
		}
	})
}

func TestLeaseEndsInVirtualTime(t *testing.T) {
	wall := time.Now()
	run(t, func(ctx context.Context, r *Run, c *clientv3.Client) {
		l := must(c.Grant(ctx, 3600))
		kept := must(c.Grant(ctx, 3600))
		must(c.Put(ctx, "gone", "", clientv3.WithLease(l.ID)))
		must(c.Put(ctx, "kept", "", clientv3.WithLease(kept.ID)))
		ch := c.Watch(ctx, "", clientv3.WithPrefix())
		time.Sleep(30 * time.Minute)
		must(c.KeepAliveOnce(ctx, kept.ID))
		time.Sleep(30*time.Minute - 1)
		synctest.Wait()
		if n := must(c.Get(ctx, "gone")).Count; n != 1 {
			t.Error("the lease ended early")
		}
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		r.Pump()
		want(t, "at the end of its term", drain(ch), "DELETE gone=@4")
		if got := must(c.Leases(ctx)).Leases; len(got) != 1 || got[0].ID != kept.ID {
			t.Errorf("living leases %v, want %v", got, kept.ID)
		}
		alive, err := c.KeepAlive(ctx, kept.ID)
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(3 * time.Hour)
		synctest.Wait()
		if n := must(c.Get(ctx, "kept")).Count; n != 1 || len(alive) == 0 {
			t.Error("a lease that is kept alive ended")
		}
		must(c.Revoke(ctx, kept.ID))
		if n := must(c.Get(ctx, "kept")).Count; n != 0 {
			t.Error("a revoked lease kept its key")
		}
		if err := c.Lease.Close(); err != nil {
			t.Error(err)
		}
	})
	if time.Since(wall) > 10*time.Second {
		t.Error("four virtual hours took real time")
	}
}

func TestTimeStandsStillDuringACall(t *testing.T) {
	run(t, func(ctx context.Context, r *Run, c *clientv3.Client) {
		fired := false
		time.AfterFunc(1, func() { fired = true })
		start := time.Now()
		for range 100 {
			must(c.Put(ctx, "a", "b"))
		}
		if time.Since(start) != 0 || fired {
			t.Errorf("virtual time moved by %v during calls", time.Since(start))
		}
	})
}

func TestReadAtARevision(t *testing.T) {
	run(t, func(ctx context.Context, r *Run, c *clientv3.Client) {
		must(c.Put(ctx, "a", "old"))
		time.Sleep(time.Second)
		then := time.Now()
		time.Sleep(time.Second)
		must(c.Put(ctx, "a", "new"))
		if got := r.RevisionAt(then); got != 2 {
			t.Errorf("revision at %v: %d, want 2", then, got)
		}
		g := must(c.Get(AtRevision(ctx, r.RevisionAt(then)), "a"))
		if string(g.Kvs[0].Value) != "old" || g.Header.Revision != 2 {
			t.Errorf("have %s at %d, want the old value at 2", g.Kvs[0].Value, g.Header.Revision)
		}
	})
}

func TestSubscribersHearEveryChangeFirst(t *testing.T) {
	run(t, func(ctx context.Context, r *Run, c *clientv3.Client) {
		var heard []Event
		r.OnEvent(func(e Event) { heard = append(heard, e) })
		must(c.Put(ctx, "a", "1"))
		must(c.Put(ctx, "a", "2"))
		must(c.Delete(ctx, "a"))
		r.Pump()
		if diff := cmp.Diff([]Event{
			{Key: "a", Value: []byte("1"), Revision: 2},
			{Key: "a", Value: []byte("2"), Prev: []byte("1"), Revision: 3, PrevRevision: 2},
			{Key: "a", Prev: []byte("2"), Revision: 4, PrevRevision: 3, Deleted: true},
		}, heard); diff != "" {
			t.Error(diff)
		}
	})
}

func TestAnEndedRunReachesNothing(t *testing.T) {
	for _, begin := range []func() *Run{func() *Run { return must(server.Begin()) }, server.BeginMemory} {
		r := begin()
		var old *clientv3.Client
		synctest.Test(t, func(*testing.T) { old = r.Client(); must(old.Put(context.Background(), "a", "1")) })
		run(t, func(ctx context.Context, _ *Run, c *clientv3.Client) {
			if n := must(c.Get(ctx, "a")).Count; n != 0 {
				t.Error("the last run's keys are still there")
			}
		})
		synctest.Test(t, func(*testing.T) {
			if _, err := old.Put(context.Background(), "a", "2"); !errors.Is(err, ErrEnded) {
				t.Errorf("a client of an earlier run: %v, want ErrEnded", err)
			}
			if _, err := old.Get(context.Background(), "a"); !errors.Is(err, ErrEnded) {
				t.Errorf("a client of an earlier run: %v, want ErrEnded", err)
			}
		})
	}
}

// A process that only uses the fast store starts no etcd, and has no directory.
func TestEtcdStartsWhenItIsNeeded(t *testing.T) {
	dir := t.TempDir()
	s := New(dir)
	in(s.BeginMemory(), func(ctx context.Context, _ *Run, c *clientv3.Client) { must(c.Put(ctx, "a", "1")) })
	if files := must(os.ReadDir(dir)); len(files) != 0 {
		t.Errorf("there is %v before etcd was needed", files)
	}
	in(must(s.Begin()), func(ctx context.Context, _ *Run, c *clientv3.Client) { must(c.Put(ctx, "a", "1")) })
	if files := must(os.ReadDir(dir)); len(files) != 1 {
		t.Errorf("there is %v, want the directory of etcd", files)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if files := must(os.ReadDir(dir)); len(files) != 0 {
		t.Errorf("etcd left %v behind", files)
	}
	if _, err := s.Begin(); !errors.Is(err, errClosed) {
		t.Errorf("a run after the end: %v", err)
	}
}

func TestMemoryStaysFlat(t *testing.T) {
	if testing.Short() {
		t.Skip("a thousand runs")
	}
	value := string(make([]byte, 4096))
	heap := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	var at100 uint64
	for i := range 1000 {
		run(t, func(ctx context.Context, r *Run, c *clientv3.Client) {
			for j := range 10 {
				must(c.Put(ctx, fmt.Sprint("key", j), value))
			}
		})
		if i == 99 {
			at100 = heap()
		}
	}
	if now := heap(); float64(now) > 1.1*float64(at100)+1<<20 {
		t.Errorf("heap %d KiB after 100 runs, %d KiB after 1,000", at100>>10, now>>10)
	}
}
