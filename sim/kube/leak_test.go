package kube_test

import (
	"context"
	"runtime"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// A thousand runs of a process must not weigh on the thousand-and-first.
func TestServersLeaveNothingBehind(t *testing.T) {
	weigh := func() (heap uint64, goroutines int) {
		time.Sleep(100 * time.Millisecond) // etcd compacts in the background
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc, runtime.NumGoroutine()
	}
	cycle := func(n int) {
		for range n {
			serve(t, func(ctx context.Context, c *cluster) {
				must(c.core.CoreV1().Pods("default").Create(ctx, pod("web", "a"), metav1.CreateOptions{}))
				must(c.pools.Create(ctx, pool("p"), metav1.CreateOptions{}))
			})
		}
	}
	cycle(50)
	heap, goroutines := weigh()
	cycle(200)
	heap2, goroutines2 := weigh()
	if heap2 > heap+heap/10+1<<20 || goroutines2 > goroutines {
		t.Errorf("heap %d KiB, %d goroutines; 200 servers later %d KiB, %d", heap>>10, goroutines, heap2>>10, goroutines2)
	}
	t.Logf("heap %d KiB, %d goroutines; 200 servers later %d KiB, %d", heap>>10, goroutines, heap2>>10, goroutines2)
}
