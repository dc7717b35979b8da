package etcd

import (
	"context"
	"fmt"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// onBoth measures with either store. The measured function counts to b.N: b.Loop reads the clock,
// which stands still in a bubble.
func onBoth(b *testing.B, f func(b *testing.B, ctx context.Context, c *clientv3.Client)) {
	b.Run("etcd", func(b *testing.B) {
		onEtcd(b, func(ctx context.Context, _ *Run, c *clientv3.Client) { f(b, ctx, c) })
	})
	b.Run("memory", func(b *testing.B) {
		inMemory(b, func(ctx context.Context, _ *Run, c *clientv3.Client) { f(b, ctx, c) })
	})
}

// swap is the transaction of Kubernetes and of Calico: put unless it was changed.
func swap(ctx context.Context, c *clientv3.Client, key, value string, seen int64) int64 {
	a := must(c.Txn(ctx).If(clientv3.Compare(clientv3.ModRevision(key), "=", seen)).
		Then(clientv3.OpPut(key, value)).Else(clientv3.OpGet(key)).Commit())
	if !a.Succeeded {
		panic("it was changed")
	}
	return a.Header.Revision
}

func BenchmarkSwap(b *testing.B) {
	value := string(make([]byte, 1000))
	onBoth(b, func(b *testing.B, ctx context.Context, c *clientv3.Client) {
		rev := int64(0)
		for range b.N {
			rev = swap(ctx, c, "a", value, rev)
		}
	})
}

func BenchmarkGet(b *testing.B) {
	onBoth(b, func(b *testing.B, ctx context.Context, c *clientv3.Client) {
		must(c.Put(ctx, "a", "b"))
		for range b.N {
			must(c.Get(ctx, "a"))
		}
	})
}

func BenchmarkListOf50(b *testing.B) {
	onBoth(b, func(b *testing.B, ctx context.Context, c *clientv3.Client) {
		for i := range 150 {
			must(c.Put(ctx, fmt.Sprintf("%d/%d", i/50, i), "x"))
		}
		for range b.N {
			must(c.Get(ctx, "1/", clientv3.WithPrefix()))
		}
	})
}

func BenchmarkRunOfTenPuts(b *testing.B) {
	tenPuts := func(ctx context.Context, _ *Run, c *clientv3.Client) {
		for j := range 10 {
			must(c.Put(ctx, fmt.Sprint("key", j), "x"))
		}
	}
	b.Run("etcd", func(b *testing.B) {
		for b.Loop() {
			onEtcd(b, tenPuts)
		}
	})
	b.Run("memory", func(b *testing.B) {
		for b.Loop() {
			inMemory(b, tenPuts)
		}
	})
}
