package fuzz_test

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ipamsim/cmd/managers"
	"ipamsim/fuzz/verify"
	"ipamsim/model"
	"ipamsim/reports"
	"ipamsim/scenarios"
	"ipamsim/scenarios/scenariotest"
	"ipamsim/sim/cluster"
	"ipamsim/sim/hermetic"
	"ipamsim/sim/longtest"
	"ipamsim/sim/por"
	"ipamsim/sim/strategy"
)

// -verify-full also runs scenarios that take minutes.
var verifyFull = flag.Bool("verify-full", false, "TestPlainEnumeration: hold the reduction to plain enumeration on worlds of thousands of schedules, too")

// coveredEnds is the results of a scenario's runs, without what depends on the order of unrelated
// steps: times, revisions, IDs of containers.
type coveredEnds struct {
	broke map[string]bool
	ends  map[string]bool
}

func newCoveredEnds() *coveredEnds { return &coveredEnds{map[string]bool{}, map[string]bool{}} }

func (s *coveredEnds) add(rep *reports.Report, end string) {
	for i := range rep.Violations {
		v := &rep.Violations[i]
		text := v.Invariant
		for _, o := range v.Objects {
			if o.Kind != model.RefContainer {
				text += ", " + o.String()
			}
		}
		s.broke[text] = true
	}
	s.ends[end] = true
}

// endOf returns the final state of a cluster, the truth and the record.
func endOf(t *testing.T, c *cluster.Cluster) string {
	s, err := c.Checker.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	note := func(kind string, more ...any) { out = append(out, kind+" "+fmt.Sprint(more...)) }
	for _, x := range s.Truth.Sandboxes {
		note("sandbox", x.Pod, x.Node, x.Stopped)
		for _, a := range x.Attachments {
			note("attachment", x.Pod, a.Network, a.Interface, a.Addrs)
		}
	}
	for ref, p := range s.Truth.Pods {
		note("pod", ref, p.Node, p.Phase, p.Deleting)
	}
	for _, b := range s.Truth.Busy {
		note("call", b.Pod, b.Node, b.Interface, b.Del)
	}
	for _, x := range s.Record.Claims {
		note("claim", x.Pool, x.Addr, x.Pod, x.Interface)
	}
	for _, x := range s.Record.Reservations {
		note("reservation", x.Name, x.Pod)
	}
	for _, x := range s.Record.Pools {
		note("pool", x.Name, x.Range, x.Node)
	}
	slices.Sort(out)
	return strings.Join(out, "\n")
}

// TestPlainEnumeration: for real scenarios, the reduction counts as many schedules as plain
// enumeration runs, with the same final states and the same violations.
func TestPlainEnumeration(t *testing.T) {
	longtest.Skip(t)
	if !hermetic.Enabled {
		t.Skip("needs the hermetic runtime: on the stock one schedules do not decide everything")
	}
	for _, x := range []struct {
		file   string
		bounds por.Bounds
		full   bool
	}{
		{"verify/testdata/one-of-the-canary.yaml", por.Bounds{Reorders: por.Any}, false},
		{"verify/testdata/whereabouts-162-pods-first.yaml", por.Bounds{Reorders: por.Any}, false},
		{"verify/testdata/whereabouts-162-mended.yaml", por.Bounds{Reorders: por.Any}, false},
		{"../scenarios/found-slices-of-two-networks.yaml", por.Bounds{Preemptions: 1, Reorders: por.Any}, true},
		{"../scenarios/found-second-range-unguarded.yaml", por.Bounds{Reorders: por.Any}, true},
		{"verify/testdata/one-of-the-canary.yaml", por.Bounds{Preemptions: 2, Reorders: por.Any}, false},
		{"../scenarios/hostlocal-one-range-on-two-nodes.yaml", por.Bounds{Reorders: por.Any}, true},
		{"../scenarios/whereabouts-176-two-claims-one-pod.yaml", por.Bounds{Preemptions: 2, Reorders: por.Any}, true},
		{"../scenarios/found-one-address-twice.yaml", por.Bounds{Preemptions: 1, Reorders: por.Any}, true},
		{"verify/testdata/hostlocal-pod-goes.yaml", por.Bounds{Reorders: por.Any}, true},
		{"verify/testdata/calico-pod-goes.yaml", por.Bounds{Reorders: por.Any}, true},
		{"verify/testdata/two-of-the-canary.yaml", por.Bounds{Reorders: por.Any}, true},
		{"verify/testdata/one-of-the-canary.yaml", por.Bounds{Preemptions: 1, Faults: 1, Reorders: por.Any}, false},
		{"verify/testdata/whereabouts-162-mended.yaml", por.Bounds{Faults: 1, Reorders: por.Any}, true},
		{"verify/testdata/whereabouts-162-mended.yaml", por.Bounds{Preemptions: 1, Reorders: por.Any}, true},
	} {
		if x.full && !*verifyFull {
			continue
		}
		t.Run(fmt.Sprintf("%s/%d+%d+%d", filepath.Base(x.file), x.bounds.Preemptions, x.bounds.Faults, x.bounds.Reorders), func(t *testing.T) {
			heldToPlain(t, x.file, x.bounds)
		})
	}
}

func heldToPlain(t *testing.T, file string, b por.Bounds) {
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	s, err := managers.All().Parse(file, text)
	if err != nil {
		t.Fatal(err)
	}
	w := verify.World(s, b.Faults)
	runner := scenariotest.Open(t)
	n, want := plainly(t, runner, w, b)
	r, got := reduced(t, runner, w, b)
	t.Logf("%+v: %d schedules one by one, %d runs (%d of them at random), %d ends, %d violations", b, n, r.Runs, r.Probes, len(want.ends), len(want.broke))
	if !r.Covered || r.Schedules.Int64() != int64(n) {
		t.Errorf("%v schedules, want %d", r.Schedules, n)
	}
	for _, lost := range []struct {
		what      string
		want, got map[string]bool
	}{{"violation", want.broke, got.broke}, {"end", want.ends, got.ends}} {
		for _, s := range slices.Sorted(maps.Keys(lost.want)) {
			if !lost.got[s] {
				t.Errorf("lost %s: %s", lost.what, s)
			}
		}
	}
	// Probes go beyond the bounds, so more violations are possible if there are probes.
	if len(want.broke) == 0 && len(got.broke) > 0 && r.Outside == nil {
		t.Errorf("breaks what no schedule breaks: %v", slices.Sorted(maps.Keys(got.broke)))
	}
}

func plainly(t *testing.T, runner *scenarios.Runner, w *scenarios.Scenario, b por.Bounds) (n int, out *coveredEnds) {
	all := strategy.Unbounded
	e := strategy.NewExhaustive(strategy.Bounds{Depth: all, Preemptions: b.Preemptions, Delays: all, Faults: b.Faults, Reorders: b.Reorders})
	out = newCoveredEnds()
	for range strategy.Runs(e) {
		var end string
		o := scenarios.Options{Store: scenarios.Memory, Instant: verify.Instant, Walk: e, End: func(c *cluster.Cluster) { end = endOf(t, c) }}
		rep, err := runner.Run(context.Background(), w, o)
		if err != nil {
			t.Fatal(err)
		}
		out.add(rep, end)
		n++
	}
	if e.Err() != nil {
		t.Fatal(e.Err())
	}
	return n, out
}

func reduced(t *testing.T, runner *scenarios.Runner, w *scenarios.Scenario, b por.Bounds) (*por.Result, *coveredEnds) {
	out := newCoveredEnds()
	s := &por.Search{
		Bounds: b, Instant: verify.Instant, Until: w.Doc.Spec.Until.Duration, Probes: 5, Expected: func(por.Break) bool { return true },
		World: func(ctx context.Context, p por.Plan) (*por.Log, error) {
			var end string
			l, rep, err := verify.RunPlan(ctx, runner, w, p, scenarios.Options{End: func(c *cluster.Cluster) { end = endOf(t, c) }})
			if err == nil {
				out.add(rep, end)
			}
			return l, err
		},
	}
	r, err := s.Cover(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return r, out
}
