package calico

import (
	"fmt"
	"net/netip"
	"testing"

	"ipamsim/model"
	"ipamsim/model/reference/calico"
	"ipamsim/reports/bench"
)

// benchReference measures the reference allocator in the cluster that plans are
// made for: a million pods come one after the other, each where another went.
func benchReference(t *testing.T, m map[string]figure) {
	const nodes, pods, replaced = 5000, 150_000, 1_000_000
	a := calico.New(calico.Kubernetes)
	if err := a.CreatePool(calico.Pool{Name: "pods", Prefix: netip.MustParsePrefix("10.0.0.0/12")}); err != nil {
		t.Fatal(err)
	}
	all := make([]calico.Request, pods)
	for i := range all {
		n, pod := fmt.Sprintf("node-%d", i%nodes), model.PodRef{Namespace: "default", Name: fmt.Sprintf("pod-%d", i)}
		a.SetNode(n, nil)
		all[i] = calico.Request{Node: n, Handle: networkKey + "." + pod.Name, Pod: pod, V4: 1}
	}
	add := func(q calico.Request) {
		if _, err := a.Add(q); err != nil {
			t.Fatal(err)
		}
	}
	for _, q := range all {
		add(q)
	}
	before := bench.CPU()
	for i := range replaced {
		q := all[i*7919%pods]
		if err := a.Del(q); err != nil {
			t.Fatal(err)
		}
		add(q)
	}
	m["reference_allocations_per_s_core"] = bench.NewFigure(replaced/(bench.CPU()-before).Seconds(), "1/s",
		fmt.Sprintf("model/reference/calico: %d nodes, %d pods in a /12, then %d times DEL and ADD of one of them, by processor time, Go's garbage collection included", nodes, pods, replaced))
}
