package calico_test

import (
	"fmt"
	"net/netip"
	"runtime"
	"testing"
	"time"

	"ipamsim/model"
	"ipamsim/model/reference/calico"
)

// What a plan of 30 days asks for: 5,000 nodes with 30 pods each in a /12, of
// which one is replaced at a time. An operation is one ADD, and the DEL that made
// room for it; of names, or of what Resolve has made of them.
func BenchmarkAllocate(b *testing.B) {
	const nodes, podsPerNode = 5000, 30
	a := calico.New(calico.Kubernetes)
	before := heap()
	if err := a.CreatePool(calico.Pool{Name: "pods", Prefix: netip.MustParsePrefix("10.0.0.0/12")}); err != nil {
		b.Fatal(err)
	}
	names := make([]string, nodes)
	for i := range names {
		names[i] = fmt.Sprintf("node-%d", i)
		a.SetNode(names[i], nil)
	}
	requests := make([]calico.Request, nodes*podsPerNode)
	start := time.Now()
	for i := range requests {
		pod := fmt.Sprintf("pod-%d", i)
		requests[i] = calico.Request{Node: names[i%nodes], Handle: "k8s-pod-network." + pod, Pod: model.PodRef{Namespace: "default", Name: pod}, V4: 1}
		if _, err := a.Add(requests[i]); err != nil {
			b.Fatal(err)
		}
	}
	fill, size := float64(len(requests))/time.Since(start).Seconds(), float64(heap()-before)/(1<<20)
	b.Run("named", func(b *testing.B) {
		for i := range b.N {
			q := requests[i*7919%len(requests)]
			if err := a.Del(q); err != nil {
				b.Fatal(err)
			}
			if _, err := a.Add(q); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(fill, "first_allocations/s")
		b.ReportMetric(size, "MiB")
		b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "allocations/s")
	})
	b.Run("resolved", func(b *testing.B) {
		asked := make([]calico.Asked, len(requests))
		for i := range asked {
			var err error
			if asked[i], err = a.Resolve(requests[i]); err != nil {
				b.Fatal(err)
			}
			defer a.Forget(&asked[i])
		}
		var room [1]netip.Addr
		b.ResetTimer()
		for i := range b.N {
			k := &asked[i*7919%len(asked)]
			a.DelAsked(k)
			if _, err := a.AddAsked(k, room[:0]); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "allocations/s")
	})
}

// The most expensive request: every block of the pool has an owner, so that each pod of a new
// node borrows.
func BenchmarkBorrow(b *testing.B) {
	a := calico.New(calico.Etcd)
	if err := a.CreatePool(calico.Pool{Name: "pods", Prefix: netip.MustParsePrefix("10.0.0.0/12")}); err != nil {
		b.Fatal(err)
	}
	for i := range 1 << 14 {
		n := fmt.Sprintf("node-%d", i)
		a.SetNode(n, nil)
		if _, err := a.Add(calico.Request{Node: n, Handle: "h." + n, V4: 1}); err != nil {
			b.Fatal(err)
		}
	}
	a.SetNode("new", nil)
	q := calico.Request{Node: "new", Handle: "h.new", V4: 1}
	b.ResetTimer()
	for range b.N {
		if _, err := a.Add(q); err != nil {
			b.Fatal(err)
		}
		if err := a.Del(q); err != nil {
			b.Fatal(err)
		}
	}
}

// One pass of the collector over 5,000 nodes and 150,000 pods without a leak. 200 pods
// were replaced since the previous pass, as in five minutes.
func BenchmarkPass(b *testing.B) {
	a := calico.New(calico.Kubernetes)
	if err := a.CreatePool(calico.Pool{Name: "pods", Prefix: netip.MustParsePrefix("10.0.0.0/12")}); err != nil {
		b.Fatal(err)
	}
	pods, all := quiet{}, []calico.Request{}
	for i := range 150000 {
		n, ref := fmt.Sprintf("node-%d", i%5000), model.PodRef{Namespace: "default", Name: fmt.Sprintf("pod-%d", i)}
		a.SetNode(n, nil)
		all = append(all, calico.Request{Node: n, Handle: "k8s-pod-network." + ref.Name, Pod: ref, V4: 1})
		got, err := a.Add(all[i])
		if err != nil {
			b.Fatal(err)
		}
		pods[ref] = calico.Pod{Node: n, Addrs: got}
	}
	c := calico.NewCollector(a, 15*time.Minute)
	began := time.Now()
	if err := c.Pass(0, pods); err != nil {
		b.Fatal(err)
	}
	first, next := time.Since(began), 0
	for b.Loop() {
		for range 200 {
			next = (next + 7919) % len(all)
			q := all[next]
			if err := a.Del(q); err != nil {
				b.Fatal(err)
			}
			got, err := a.Add(q)
			if err != nil {
				b.Fatal(err)
			}
			pods[q.Pod] = calico.Pod{Node: q.Node, Addrs: got}
		}
		if err := c.Pass(0, pods); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(first.Seconds(), "s/first")
}

// quiet are pods that never change.
type quiet map[model.PodRef]calico.Pod

func (q quiet) Pod(ref model.PodRef) (calico.Pod, bool) { p, ok := q[ref]; return p, ok }
func (quiet) Changed() ([]model.PodRef, bool)           { return nil, false }

func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
