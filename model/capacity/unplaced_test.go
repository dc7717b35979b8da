package capacity_test

import (
	"net/netip"
	"testing"
	"time"

	"ipamsim/model/capacity"
	"ipamsim/model/capacity/calico"
	"ipamsim/model/capacity/workload"
	reference "ipamsim/model/reference/calico"
)

// 90 pods on two nodes that take 64 each: while one of them is drained 26 have no node, and while
// both are drained no pod has one. If one node takes all of them there is always a node, unless
// both are away.
func TestPodsWithoutANode(t *testing.T) {
	for most, missing := range map[int]int{64: 26, 90: 0} {
		c := &capacity.Cluster{
			Manager: &calico.Config{
				Pools:    []reference.Pool{{Name: "pods", Prefix: netip.MustParsePrefix("10.0.0.0/24"), BlockBits: 26}},
				Settings: reference.Config{AutoAllocate: true},
			},
			Workload: workload.Workload{
				Nodes:   []workload.Node{{Name: "a"}, {Name: "b"}},
				Load:    workload.Load{Pods: 90, MaxPods: most},
				Trouble: workload.Trouble{DrainEvery: 5 * 24 * time.Hour, DrainFor: 6 * time.Hour},
				Horizon: 30 * 24 * time.Hour, Samples: 721,
			},
		}
		course, err := capacity.Play(c, c.Trace(1))
		if err != nil {
			t.Fatal(err)
		}
		seen := map[int]int{}
		for _, s := range course.Samples[1:] {
			seen[s.Unplaced]++
			if s.Pods+s.Unplaced != 90 && s.Unplaced != 0 {
				t.Errorf("%d pods, and %d without a node", s.Pods, s.Unplaced)
			}
		}
		if delete(seen, 90); seen[missing] == 0 || seen[0] < 600 || len(seen) > 2 {
			t.Errorf("with room for %d: seen so many without a node: %v", most, seen)
		}
	}
}
