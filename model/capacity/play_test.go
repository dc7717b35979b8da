package capacity_test

import (
	"errors"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"ipamsim/model"
	"ipamsim/model/capacity"
	"ipamsim/model/capacity/workload"
	"ipamsim/model/metric"
)

// The running counts of a player equal the measurement of a cluster in the same state: the
// truth, the record and the policy. With every manager an address is either in use by one
// pod's running sandbox or a node's device, or leaked.
func TestPlayedIsMeasured(t *testing.T) {
	busy := 0
	rapid.Check(t, func(t *rapid.T) {
		c := drawCluster(t)
		trace := c.Trace(rapid.Uint64().Draw(t, "seed"))
		p, err := capacity.NewPlayer(c, trace)
		if err != nil {
			t.Fatal(err)
		}
		for e := range trace.Events() {
			if err := p.Do(e); err != nil {
				notModelled(t, err)
				return
			}
			if e.Kind != workload.TakeSample {
				continue
			}
			got, v := last(p), p.View()
			want := capacity.Measure(v)
			got.Unplaced = 0   // no view knows of them
			got.Blackholed = 0 // a view has no routing tables here; see TestLostPairsAreThoseOfThePlane
			if d := cmp.Diff(want, got); d != "" {
				t.Fatalf("measured (-) and played (+) at %s:\n%s", e.At, d)
			}
			conserved(t, v, got)
			reached(t, v)
		}
		x := p.Course()
		if x.Refused > 0 {
			busy++
		}
		if x.Refused > x.Adds || (x.Refused > 0) != (x.Exhausted != capacity.Never) || len(x.Samples) != c.SampleCount() {
			t.Fatalf("%d of %d ADDs refused, the first at %s; %d samples", x.Refused, x.Adds, x.Exhausted, len(x.Samples))
		}
	})
	if busy == 0 {
		t.Error("nothing was ever refused")
	}
}

// notModelled: upstream gives node slices to several new nodes in the order of a Go
// map, and the reference says so instead of guessing.
func notModelled(t *rapid.T, err error) {
	if !errors.Is(err, capacity.ErrNotModelled) {
		t.Fatal(err)
	}
}

func last(p *capacity.Player) capacity.Sample { return p.Course().Samples[len(p.Course().Samples)-1] }

func conserved(t *rapid.T, v metric.View, s capacity.Sample) {
	live := 0
	for _, b := range v.Truth.Sandboxes {
		for _, a := range b.Attachments {
			live += len(a.Addrs)
		}
	}
	for _, c := range v.Record.Claims {
		if n := v.Truth.Nodes[c.Node]; c.Tunnel && n.Registered && !n.Up {
			live++ // its device will be back
		}
	}
	if s.InUse != live+s.Leaked {
		t.Fatalf("%d in use, %d of them alive and %d leaked", s.InUse, live, s.Leaked)
	}
}

// reached: what a node cannot be given is what model.Free does not count, which
// may expect the worst where addresses are reserved or pools differ.
func reached(t *rapid.T, v metric.View) {
	n := &v.Networks[0]
	if n.Blocks == nil || len(n.Blocks.Reserved) > 0 || n.Blocks.V6 || len(n.Blocks.Pools) > 1 {
		return
	}
	for name := range v.Truth.Nodes {
		alone := v
		alone.Truth.Nodes = map[string]model.Node{}
		for other, x := range v.Truth.Nodes {
			x.Up = other == name
			alone.Truth.Nodes[other] = x
		}
		s := capacity.Measure(alone)
		free := model.Free(v.Networks, v.Record, n.Key, name)
		if reach := float64(s.Size-s.InUse) - s.Stranded; math.Abs(reach-float64(free)) > 1e-9 {
			t.Fatalf("%s can be given %v addresses, and model.Free says %d", name, reach, free)
		}
	}
}
