package calico

import (
	"fmt"
	"net/netip"
	"testing"

	"ipamsim/model"
	"ipamsim/model/reference/calico"
	"ipamsim/reports/bench"
	"ipamsim/sim/ipam/calico/record"
)

// benchReference measures the reference allocator in the largest cluster of plans: 150,000 pods
// start, and then a million pods are replaced one after the other, each on the node of its
// predecessor. It counts ADDs; the time includes the DELs that make room for them. The order of the
// pods is such that hardly any data of a pod is in a CPU cache.
func benchReference(t *testing.T, m map[string]figure) {
	const nodes, pods, replaced = 5000, 150_000, 1_000_000
	a := calico.New(calico.Kubernetes)
	if err := a.CreatePool(calico.Pool{Name: "pods", Prefix: netip.MustParsePrefix("10.0.0.0/12")}); err != nil {
		t.Fatal(err)
	}
	all, asked := make([]calico.Request, pods), make([]calico.Asked, pods)
	for i := range all {
		n, pod := fmt.Sprintf("node-%d", i%nodes), model.PodRef{Namespace: "default", Name: fmt.Sprintf("pod-%d", i)}
		a.SetNode(n, nil)
		all[i] = calico.Request{Node: n, Handle: record.NetworkKey + "." + pod.Name, Pod: pod, V4: 1}
	}
	cluster := fmt.Sprintf("model/reference/calico: %d nodes, %d pods in a /12", nodes, pods)
	timed := func(name, how string, n int, do func(i int) error) {
		before := bench.CPU()
		for i := range n {
			if err := do(i); err != nil {
				t.Fatal(err)
			}
		}
		m[name] = bench.NewFigure(float64(n)/(bench.CPU()-before).Seconds(), "1/s", cluster+how+", by processor time, Go's garbage collection included")
	}
	timed("reference_first_allocations_per_s_core", ": their first ADDs, blocks and all", pods, func(i int) error {
		_, err := a.Add(all[i])
		return err
	})
	timed("reference_named_allocations_per_s_core", fmt.Sprintf(", then %d ADDs, each with the DEL before it: nodes and handles looked up by name each time", replaced), replaced, func(i int) error {
		q := all[i*7919%pods]
		if err := a.Del(q); err != nil {
			return err
		}
		_, err := a.Add(q)
		return err
	})
	for i := range all {
		var err error
		if asked[i], err = a.Resolve(all[i]); err != nil {
			t.Fatal(err)
		}
	}
	var room [1]netip.Addr
	timed("reference_allocations_per_s_core", fmt.Sprintf(", then %d ADDs, each with the DEL before it: of requests that were looked up once (Resolve)", replaced), replaced, func(i int) error {
		k := &asked[i*7919%pods]
		a.DelAsked(k)
		_, err := a.AddAsked(k, room[:0])
		return err
	})
	if n := a.Totals().InUse; n != pods {
		t.Fatalf("%d addresses are in use, not %d", n, pods)
	}
}
