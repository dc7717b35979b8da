package scenarios_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"ipamsim/cmd/managers"
	"ipamsim/model"
	"ipamsim/reports"
	"ipamsim/scenarios"
	"ipamsim/sim/hermetic"
	"ipamsim/sim/longtest"
	"ipamsim/sim/strategy"
)

// few are short scenarios of both managers, with and without faults.
var few = []string{"r1-whereabouts-162", "whereabouts-712-patch-500", "calico-4471-affinity-without-block", "calico-12741-tombstone"}

// The exceptions to the default order that were recorded from a run of the real
// code make it again, message by message, in whatever order it was made.
func TestRecordedRunsOfRealCodeRepeat(t *testing.T) {
	longtest.Skip(t)
	if !hermetic.Enabled {
		t.Skip("SKIPPED: needs the hermetic build; run make test")
	}
	r := runner(t)
	for _, name := range few {
		s := load(t, name+".yaml")
		for _, walk := range []string{"", "random"} {
			first := run(t, r, s, scenarios.Options{Strategy: walk})
			rec := strategy.NewRecorder(strategy.NewReplay(first.Trace.Schedule()))
			run(t, r, s, scenarios.Options{Seed: &first.Seed, Walk: rec})
			sparse := strategy.NewSparse(rec.Exceptions())
			again := run(t, r, s, scenarios.Options{Seed: &first.Seed, Walk: sparse})
			if got, want := steps(again), steps(first); got != want {
				t.Errorf("%s, %s: another run: %s", name, first.Strategy, firstDifference(got, want))
			}
			if again.StoreDigest != first.StoreDigest || sparse.Err() != nil {
				t.Errorf("%s, %s: store %s and %s, %v", name, first.Strategy, again.StoreDigest, first.StoreDigest, sparse.Err())
			}
		}
	}
}

// A finding in the sparse form may end at the violation it is about; its file
// replays to there and no further, and says so when it does not.
func TestRecordedFindingReplays(t *testing.T) {
	if !hermetic.Enabled {
		t.Skip("SKIPPED: needs the hermetic build; run make test")
	}
	r := runner(t)
	s := load162(t)
	first := run(t, r, s, scenarios.Options{})
	rec := strategy.NewRecorder(strategy.NewReplay(first.Trace.Schedule()))
	stop := func(_ *reports.Report, v *model.Violation) bool {
		return v.Invariant == "overlap-reservation"
	}
	run(t, r, s, scenarios.Options{Walk: rec, StopAt: stop})
	rep := run(t, r, s, scenarios.Options{Walk: strategy.NewSparse(rec.Exceptions()), StopAt: stop})
	if n := len(rep.Trace.Steps); n != 321 || !rep.Stopped {
		t.Errorf("stopped=%v after %d steps, want to stop at the violation, 321", rep.Stopped, n)
	}
	rep.Races = []model.Race{{Invariant: "overlap-reservation", Code: "not-reserved", Read: 318, Change: 319, Use: 321}}
	text, err := s.Recorded(rep, rec.Exceptions()).YAML()
	if err != nil {
		t.Fatal(err)
	}
	if want := "{message: cni-add/default/web-0/net1#1, delay: "; !strings.Contains(string(text), want) {
		t.Errorf("no %q in\n%.3000s", want, text)
	}
	f, err := managers.All().Parse("finding.yaml", text)
	if err != nil {
		t.Fatalf("%v\n%.3000s", err, text)
	}
	again := run(t, r, f, scenarios.Options{Recorded: true})
	if again.Digest != rep.Digest || !again.AsExpected() || len(again.Violations) != 3 {
		t.Errorf("the file replays with digest %s, want %s; %d violations, as expected: %v", again.Digest, rep.Digest, len(again.Violations), again.AsExpected())
	}
	if !slices.Equal(again.Races, rep.Races) {
		t.Errorf("races %+v", again.Races)
	}
	f.Doc.Spec.Schedule.Digest = "0123456789abcdef"
	if other := run(t, r, f, scenarios.Options{Recorded: true}); other.Races != nil {
		t.Errorf("the races of another run were not tried: %+v", other.Races)
	}
	f.Doc.Spec.Schedule.Decisions[3].Message = "nobody#1"
	if _, err := r.Run(context.Background(), f, scenarios.Options{Recorded: true}); err == nil || !strings.Contains(err.Error(), "1 of ") || !strings.Contains(err.Error(), "nobody#1") {
		t.Errorf("a decision about an unknown process: %v", err)
	}
}

// steps is the schedule log.
func steps(rep *reports.Report) string {
	var b strings.Builder
	_ = rep.Trace.Print(&b)
	return b.String()
}

func firstDifference(got, want string) string {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range min(len(g), len(w)) {
		if g[i] != w[i] {
			return g[i] + "\nwant " + w[i]
		}
	}
	return "one is longer"
}
