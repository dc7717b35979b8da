package fuzz_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"ipamsim/cmd/managers"
	"ipamsim/fuzz/gate"
	"ipamsim/model"
	"ipamsim/reports/baseline"
	"ipamsim/reports/timeline"
	"ipamsim/scenarios"
	"ipamsim/sim/longtest"
)

// gateSearched returns the outcome of a gate with one scenario and a search.
func gateSearched(t *testing.T, s gate.Search) *baseline.Outcome {
	t.Helper()
	hermeticOnly(t)
	calm, err := managers.All().Load(filepath.Join("..", "scenarios", "ok-exclude.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	o, err := (&gate.Gate{Scenarios: []*scenarios.Scenario{calm}, Baseline: &baseline.Baseline{}, All: true, Parallel: 2, Search: s}).Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// TestGateSearchKnowsWhatIsKnown: the known bugs of the release are not reported as new.
func TestGateSearchKnowsWhatIsKnown(t *testing.T) {
	longtest.Skip(t)
	o := gateSearched(t, gate.Search{Time: 20 * time.Second, Dir: t.TempDir(), Known: filepath.Join("testdata", "known")})
	if o.Red() || o.Searched == 0 || len(o.Rows) != 1 {
		t.Errorf("%s", gateText(t, o))
	}
	if !strings.Contains(gateText(t, o), " searched") {
		t.Errorf("the outcome does not report it: %s", gateText(t, o))
	}
}

// TestGateSearchFinds: with empty lists, those bugs are new: the gate is red, and each bug has a
// file that replays.
func TestGateSearchFinds(t *testing.T) {
	lists, dir := t.TempDir(), filepath.Join(t.TempDir(), "found")
	for _, list := range []string{"calico", "mixed", "whereabouts"} {
		if err := os.WriteFile(filepath.Join(lists, list), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	o := gateSearched(t, gate.Search{Time: 2 * time.Minute, Dir: dir, Known: lists, Drawn: true})
	if v := o.Verdict(); v != "RED: the search found an unknown failure" {
		t.Fatalf("%s\n%s", v, gateText(t, o))
	}
	row := o.Rows[len(o.Rows)-1]
	c := row.Changes[0]
	if !row.Search || c.Kind != baseline.NewViolation || !strings.Contains(c.Sentence, "not among the known causes") || c.Timeline == "" {
		t.Errorf("%+v", c)
	}
	s, err := managers.All().Load(strings.TrimPrefix(c.Command, "ipamsim replay "))
	if err != nil {
		t.Fatal(err)
	}
	r, err := scenarios.NewRunner()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	rep, err := r.Run(t.Context(), s, scenarios.Options{Recorded: true})
	if err != nil || rep.Digest != s.Doc.Spec.Schedule.Digest || !rep.AsExpected() {
		t.Errorf("it does not replay: %v", err)
	}
	i := slices.IndexFunc(rep.Violations, func(v model.Violation) bool { return v.Invariant == c.What })
	if i < 0 || c.Step != rep.Violations[i].Step || c.Timeline != timeline.Story(rep, &rep.Violations[i]) {
		t.Errorf("the timeline of step %d differs from that of its file:\n%s", c.Step, c.Timeline)
	}
	if c.Command != "ipamsim replay "+c.File || len(c.Calls) == 0 || !c.Calls[0].Site.Known() {
		t.Errorf("%s: calls %+v", c.File, c.Calls)
	}
}

// TestGateSearchWithoutLists: without the lists a search is impossible, which the gate reports.
func TestGateSearchWithoutLists(t *testing.T) {
	o := gateSearched(t, gate.Search{Time: time.Second, Dir: t.TempDir(), Known: "nowhere"})
	c := o.Rows[len(o.Rows)-1].Changes
	if len(c) != 1 || c[0].Kind != baseline.LeftOut || !strings.Contains(c[0].Sentence, "nowhere") || !strings.HasPrefix(o.Verdict(), "UNKNOWN: ") {
		t.Errorf("%s", gateText(t, o))
	}
}
