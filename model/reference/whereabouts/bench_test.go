package whereabouts_test

import (
	"fmt"
	"net/netip"
	"runtime"
	"testing"

	"ipamsim/model"
	"ipamsim/model/reference/whereabouts"
)

// 150,000 pods hold an address each; a pod somewhere among them is replaced by
// one of another name. One operation is an ADD and a DEL.
func BenchmarkReplace(b *testing.B) {
	const pods = 150_000
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	n, err := whereabouts.NewNetwork(model.Network{Key: "default/net", Overlap: true, Ranges: []model.Range{{Prefix: netip.MustParsePrefix("10.0.0.0/12")}}})
	if err != nil {
		b.Fatal(err)
	}
	r, calls := whereabouts.New(), make([]whereabouts.Call, pods)
	start := func(i, generation int) {
		name := fmt.Sprintf("web-%d-%d", i, generation)
		calls[i] = whereabouts.Call{Pod: model.PodRef{Namespace: "default", Name: name}, Container: name, Interface: "net1"}
		if _, err := r.Add(n, calls[i]); err != nil {
			b.Fatal(err)
		}
	}
	for i := range pods {
		start(i, 0)
	}
	if r.Claimed() != pods {
		b.Fatal(r.Claimed())
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	x := uint64(1)
	b.ReportAllocs()
	b.ResetTimer()
	for g := range b.N {
		x = x*6364136223846793005 + 1442695040888963407
		i := int(x >> 33 % pods)
		if err := r.Del(n, calls[i]); err != nil {
			b.Fatal(err)
		}
		start(i, g+1)
	}
	b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/pods, "B/address")
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "allocations/s")
}

// A pass over 150,000 pods without an orphan.
func BenchmarkReconcile(b *testing.B) {
	n, err := whereabouts.NewNetwork(model.Network{Key: "default/net", Overlap: true, Ranges: []model.Range{{Prefix: netip.MustParsePrefix("10.0.0.0/12")}}})
	if err != nil {
		b.Fatal(err)
	}
	r := whereabouts.New()
	var pods []whereabouts.Pod
	for i := range 150_000 {
		ref := model.PodRef{Namespace: "default", Name: fmt.Sprint("web-", i)}
		a, err := r.Add(n, whereabouts.Call{Pod: ref, Container: ref.Name, Interface: "net1"})
		if err != nil {
			b.Fatal(err)
		}
		pods = append(pods, whereabouts.Pod{Ref: ref, IPs: []string{a[0].Addr().String()}})
	}
	for b.Loop() {
		if p := r.Reconcile(whereabouts.AddressInStatus, pods); len(p.Claims)+len(p.Reservations) > 0 {
			b.Fatal(len(p.Claims))
		}
	}
}
