package capacity_test

import (
	"fmt"
	"net/netip"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"ipamsim/model"
	"ipamsim/model/capacity"
	"ipamsim/model/capacity/calico"
	"ipamsim/model/capacity/whereabouts"
	"ipamsim/model/capacity/workload"
	reference "ipamsim/model/reference/calico"
)

// A player that skips attempts whose result cannot differ from the previous one, and processes in a
// pass of ip-reconciler only pods that were orphaned since the last pass, has the same course as
// one that does everything.
func TestWhatIsLeftOutChangesNothing(t *testing.T) {
	refused := 0
	rapid.Check(t, func(t *rapid.T) {
		c := &capacity.Cluster{
			Workload: workload.Workload{
				Horizon: 20 * time.Hour, Samples: 5,
				Load:    workload.Load{PodsPerNode: workload.Distribution{Shape: workload.Poisson, Mean: 8}, Lifetime: rapid.SampledFrom([]time.Duration{time.Hour, 5 * time.Hour}).Draw(t, "lifetime")},
				Trouble: workload.Trouble{CrashEvery: 6 * time.Hour, CrashFor: rapid.SampledFrom([]time.Duration{10 * time.Minute, time.Hour}).Draw(t, "crash"), ReplaceEvery: 10 * time.Hour, ReplaceFor: time.Minute},
				Collect: workload.Collect{Every: rapid.SampledFrom([]time.Duration{0, 30 * time.Minute}).Draw(t, "passes")},
			},
		}
		for i := range rapid.IntRange(1, 4).Draw(t, "nodes") {
			c.Nodes = append(c.Nodes, workload.Node{Name: fmt.Sprint("n", i)})
		}
		if rapid.Bool().Draw(t, "Calico") {
			m := &calico.Config{
				Datastore: reference.Kubernetes, Pools: []reference.Pool{{Name: "a", Prefix: netip.MustParsePrefix("10.0.0.0/27"), BlockBits: rapid.IntRange(28, 31).Draw(t, "block")}},
				Settings: reference.Config{Strict: rapid.Bool().Draw(t, "strict"), AutoAllocate: rapid.IntRange(0, 4).Draw(t, "automatic") > 0, MaxBlocks: rapid.IntRange(0, 2).Draw(t, "maxBlocks")},
			}
			if rapid.Bool().Draw(t, "second pool") {
				m.Pools = append(m.Pools, reference.Pool{
					Name: "b", Prefix: netip.MustParsePrefix("10.0.1.0/29"), BlockBits: 30, NodeSelector: rapid.SampledFrom([]string{"", "has(rack)"}).Draw(t, "selector"),
				})
			}
			c.Manager = m
		} else {
			c.Manager, c.Networks = &whereabouts.Config{}, []model.Network{{Key: "default/net", Overlap: rapid.Bool().Draw(t, "overlap"), Ranges: []model.Range{{
				Prefix: netip.MustParsePrefix("172.16.0.0/24"), Start: netip.MustParseAddr("172.16.0.1"), End: netip.MustParseAddr("172.16.0.20"),
			}}}}
		}
		trace := c.Trace(rapid.Uint64().Draw(t, "seed"))
		var courses [2]*capacity.Course
		var records [2]model.Snapshot
		for i, tireless := range []bool{false, true} {
			p, err := capacity.NewPlayer(c, trace)
			if err != nil {
				t.Fatal(err)
			}
			p.Tireless = tireless
			for e := range trace.Events() {
				if err := p.Do(e); err != nil {
					t.Fatal(err)
				}
			}
			courses[i] = p.Course()
			records[i] = p.View().Record
		}
		refused += courses[0].Refused
		if d := cmp.Diff(courses[1], courses[0]) + cmp.Diff(records[1], records[0], cmpopts.EquateComparable(netip.Addr{}, netip.Prefix{})); d != "" {
			t.Fatalf("tireless (-) and not (+):\n%s", d)
		}
	})
	if refused == 0 {
		t.Error("nothing was ever refused")
	}
}
