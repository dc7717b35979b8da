package calico

import (
	"context"
	"fmt"
	"testing"
	"time"
)

// BenchmarkController is one controller on three nodes with 100 pods. In the first hour 35 leaks
// are collected and one node is removed; in the rest nothing happens. It reports virtual minutes
// per wall-clock second, without the time to start the pods.
//
// Run it with -benchtime 1x: time inside is virtual, so Go knows the duration of an iteration
// only when it is over.
func BenchmarkController(b *testing.B) {
	for _, ds := range datastores {
		for _, horizon := range []time.Duration{time.Hour, 20 * time.Hour} {
			b.Run(fmt.Sprint(ds, "/", horizon), func(b *testing.B) {
				for range b.N {
					benchController(b, ds, horizon)
				}
			})
		}
	}
}

func benchController(b *testing.B, ds string, horizon time.Duration) {
	var wall time.Duration
	steps := 0
	tr, _ := gcPlay(b, gcRun{datastore: ds}, func(_ context.Context, w *gcWorld) {
		w.cluster("10.64.0.0/22", "a", "b", "c")
		for i := range 100 {
			n := []string{"a", "b", "c"}[i%3]
			w.run(fmt.Sprintf("%s-%d", n, i), n)
		}
		steps = len(w.Trace().Steps)
		var began time.Time
		w.outside(func() { began = time.Now() })
		w.start(controllerName, "controller")
		time.Sleep(2 * time.Minute)
		for i := range 35 {
			w.vanish(fmt.Sprintf("%s-%d", []string{"a", "b", "c"}[i%3], i))
		}
		time.Sleep(28 * time.Minute)
		for i := 2; i < 100; i += 3 {
			if i >= 35 {
				w.vanish(fmt.Sprintf("c-%d", i))
			}
		}
		w.deleteNode("c")
		time.Sleep(horizon - 30*time.Minute)
		w.outside(func() { wall = time.Since(began) })
		if n := w.allocations(); n != 43 {
			b.Error(n, w.record())
		}
	})
	b.ReportMetric(horizon.Minutes()/wall.Seconds(), "vmin/s")
	b.ReportMetric(float64(len(tr.Steps)-steps), "messages")
}
