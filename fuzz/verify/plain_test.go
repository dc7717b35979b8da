package verify

import (
	"context"
	"flag"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"ipamsim/cmd/managers"
	"ipamsim/reports"
	"ipamsim/scenarios"
	"ipamsim/sim/hermetic"
	"ipamsim/sim/por"
	"ipamsim/sim/strategy"
)

// -plain also goes through worlds of which that takes minutes: make verify.
var plainFlag = flag.Bool("plain", false, "hold the reduction to plain enumeration on all small worlds")

// seen is what runs of a world came to.
type seen struct {
	states map[uint64]bool
	broke  map[string]bool
}

func newSeen() *seen { return &seen{map[uint64]bool{}, map[string]bool{}} }

func (s *seen) add(rep *reports.Report) {
	for _, x := range rep.States {
		s.states[x] = true
	}
	for i := range rep.Violations {
		v := &rep.Violations[i]
		s.broke[v.Invariant+": "+v.Message] = true
	}
}

// TestPlainEnumeration: of real worlds the reduction counts the schedules that plain
// enumeration goes through, and comes to the same states and the same violations.
func TestPlainEnumeration(t *testing.T) {
	if !hermetic.Enabled {
		t.Skip("needs the hermetic runtime: on the stock one schedules do not decide everything")
	}
	for _, x := range []struct {
		file   string
		bounds por.Bounds
		slow   bool
	}{
		{"testdata/one-pod.yaml", por.Bounds{}, false},
		{"testdata/one-pod.yaml", por.Bounds{Preemptions: 1}, true},
		{"testdata/one-pod.yaml", por.Bounds{Faults: 1}, true},
		{"../../scenarios/found-slices-of-two-networks.yaml", por.Bounds{}, true},
	} {
		if x.slow && !*plainFlag {
			continue
		}
		t.Run(filepath.Base(x.file), func(t *testing.T) {
			text, err := os.ReadFile(x.file)
			if err != nil {
				t.Fatal(err)
			}
			w, err := (&world{File: x.file, Text: string(text), Faults: x.bounds.Faults}).parse(managers.All())
			if err != nil {
				t.Fatal(err)
			}
			runner, err := scenarios.NewRunner()
			if err != nil {
				t.Fatal(err)
			}
			defer runner.Close()
			n, want := plainly(t, runner, w, x.bounds)
			r, got := reduced(t, runner, w, x.bounds)
			t.Logf("%+v: %d schedules one by one, %v in %d runs, %d states, %d violations", x.bounds, n, r.Schedules, r.Runs, len(want.states), len(want.broke))
			if r.Schedules.Int64() != int64(n) {
				t.Errorf("%v schedules, want %d", r.Schedules, n)
			}
			for _, s := range slices.Sorted(maps.Keys(want.broke)) {
				if !got.broke[s] {
					t.Errorf("lost: %s", s)
				}
			}
		})
	}
}

func plainly(t *testing.T, runner *scenarios.Runner, w *scenarios.Scenario, b por.Bounds) (int, *seen) {
	all := strategy.Unbounded
	e := strategy.NewExhaustive(strategy.Bounds{Depth: all, Preemptions: b.Preemptions, Delays: all, Faults: b.Faults})
	out := newSeen()
	n := 0
	for range strategy.Runs(e) {
		rep, err := runner.Run(context.Background(), w, scenarios.Options{Store: scenarios.Memory, Instant: Instant, Walk: e})
		if err != nil {
			t.Fatal(err)
		}
		out.add(rep)
		n++
	}
	if e.Err() != nil {
		t.Fatal(e.Err())
	}
	return n, out
}

func reduced(t *testing.T, runner *scenarios.Runner, w *scenarios.Scenario, b por.Bounds) (*por.Result, *seen) {
	out := newSeen()
	s := &por.Search{
		Bounds: b, Instant: Instant, Until: w.Doc.Spec.Until.Duration, Probes: 5, Expected: func(por.Break) bool { return true },
		World: func(ctx context.Context, p por.Plan) (*por.Log, error) {
			l, rep, err := run(ctx, runner, w, p)
			if err == nil {
				out.add(rep)
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
