package kube_test

import (
	"context"
	"fmt"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// BenchmarkNew is a server that serves nothing.
func BenchmarkNew(b *testing.B) {
	for b.Loop() {
		serve(b, func(context.Context, *cluster) {})
	}
}

// BenchmarkFirstUse is a server that creates one pod and one pool.
func BenchmarkFirstUse(b *testing.B) {
	for b.Loop() {
		serve(b, func(ctx context.Context, c *cluster) {
			must(c.core.CoreV1().Pods("default").Create(ctx, pod("web", "a"), metav1.CreateOptions{}))
			must(c.pools.Create(ctx, pool("p"), metav1.CreateOptions{}))
		})
	}
}

// The others count to b.N: b.Loop looks at the clock, which stands still in a
// bubble.
func BenchmarkPodCreate(b *testing.B) {
	serve(b, func(ctx context.Context, c *cluster) {
		for i := range b.N {
			must(c.core.CoreV1().Pods("default").Create(ctx, pod(fmt.Sprint("web-", i), "a"), metav1.CreateOptions{}))
		}
	})
}

func BenchmarkPodGet(b *testing.B) {
	serve(b, func(ctx context.Context, c *cluster) {
		must(c.core.CoreV1().Pods("default").Create(ctx, pod("web", "a"), metav1.CreateOptions{}))
		for range b.N {
			must(c.core.CoreV1().Pods("default").Get(ctx, "web", metav1.GetOptions{}))
		}
	})
}

func BenchmarkPatch(b *testing.B) {
	for _, n := range []int{1, 50, 250} {
		b.Run(fmt.Sprintf("%d allocations", n), func(b *testing.B) {
			serve(b, func(ctx context.Context, c *cluster) {
				p := must(c.pools.Create(ctx, pool("p"), metav1.CreateOptions{}))
				for i := range b.N {
					p = must(c.pools.Patch(ctx, "p", types.JSONPatchType, claim(p.GetResourceVersion(), i%n), metav1.PatchOptions{}))
				}
			})
		})
	}
}
