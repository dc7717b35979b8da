package plan

import (
	"cmp"
	"context"
	"fmt"
	"net/netip"
	"os"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"ipamsim/model"
	"ipamsim/model/capacity"
	"ipamsim/model/capacity/calico"
	"ipamsim/model/capacity/workload"
	"ipamsim/model/metric"
	"ipamsim/scenarios"
	"ipamsim/scenarios/scenariotest"
	"ipamsim/sim/longtest"
)

// holder is who has an address.
type holder struct {
	Node string
	Pod  model.PodRef
}

// holders are who has what, by address; after a collector's pass by block, because
// in which order it releases the addresses of a block is left to a Go map.
func holders(v metric.View, c *capacity.Cluster) map[netip.Prefix][]holder {
	bits := 32
	if c.Collect.Every > 0 {
		bits = calico.Of(c).Pools[0].BlockBits
	}
	out := map[netip.Prefix][]holder{}
	for _, x := range v.Record.Claims {
		p := netip.PrefixFrom(x.Addr, bits).Masked()
		out[p] = append(out[p], holder{x.Node, x.Pod})
	}
	for _, all := range out {
		slices.SortFunc(all, func(a, b holder) int { return cmp.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
	}
	return out
}

// Both engines give the very same address to the very same pod, at every sample. Six
// nodes whose tunnels want addresses before anything else, some of them of one
// block: they must ask in one order. And a new node for whose tunnel none is left
// asks again until one is.
func TestClaimsAgree(t *testing.T) {
	longtest.Skip(t)
	text, err := os.ReadFile("../plans/replaced-nodes.yaml")
	if err != nil {
		t.Fatal(err)
	}
	p, err := Parse(All, "replaced-nodes.yaml", []byte(strings.Replace(string(text), "horizon: 20d", "horizon: 2d", 1)), nil)
	if err != nil {
		t.Fatal(err)
	}
	r := scenariotest.Runner(t)
	for cell := range p.Cells {
		c := p.Cells[cell].Cluster
		c.Apart = p.apart()
		if strings.HasPrefix(p.Cells[cell].Option, "a pass") {
			continue // too many for a test
		}
		seed := seedOf(*p.Doc.Spec.Seed, cell)
		want := lived(t, &c, seed)
		s, err := p.script(&c, Point{Cell: cell, Engine: Real, Seed: seed})
		if err != nil {
			t.Fatal(err)
		}
		o := scenarios.Options{Store: scenarios.Memory, InTurn: c.Apart}
		o.Samples.At = s.instants(c.Apart)
		seen := 0
		o.Samples.See = func(i int, v metric.View) {
			seen++
			if diff := gocmp.Diff(want[i], holders(v, &c), gocmp.Comparer(func(a, b netip.Prefix) bool { return a == b })); diff != "" {
				t.Fatalf("%s, seed %d, at %s, reference -, real +\n%s", p.Cells[cell].Option, seed, s.samples[i].at, diff)
			}
		}
		if _, err := r.Run(context.Background(), s.Scenario, o); err != nil {
			t.Fatal(err)
		}
		if seen != len(want) {
			t.Errorf("%s: %d samples of the real code, want %d", p.Cells[cell].Option, seen, len(want))
		}
	}
}

// lived records the holder of each address at each sample of the reference.
func lived(t *testing.T, c *capacity.Cluster, seed uint64) (out []map[netip.Prefix][]holder) {
	t.Helper()
	trace := c.Trace(seed)
	player, err := capacity.NewPlayer(c, trace)
	if err != nil {
		t.Fatal(err)
	}
	for e := range trace.Events() {
		if err := player.Do(e); err != nil {
			t.Fatal(err)
		}
		if e.Kind == workload.TakeSample {
			out = append(out, holders(player.View(), c))
		}
	}
	return out
}
