package fuzz_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"ipamsim/cmd/managers"
	"ipamsim/fuzz/finding"
	"ipamsim/fuzz/shrink"
	"ipamsim/model"
	"ipamsim/reports"
	"ipamsim/reports/timeline"
	"ipamsim/scenarios"
	"ipamsim/scenarios/scenariotest"
	"ipamsim/sim/longtest"
)

// failingRun runs a scenario of the library and returns its first violation of an invariant.
func failingRun(t *testing.T, r *scenarios.Runner, name, invariant string, seed uint64) (*scenarios.Scenario, *reports.Report, *model.Violation) {
	t.Helper()
	s, err := managers.All().Load(filepath.Join("..", "scenarios", name+".yaml"))
	if err != nil {
		t.Fatal(err)
	}
	s = s.WithSimpleControllers()
	rep, err := r.Run(context.Background(), s, scenarios.Options{Seed: &seed})
	if err != nil {
		t.Fatal(err)
	}
	for i := range rep.Violations {
		if rep.Violations[i].Invariant == invariant {
			return s, rep, &rep.Violations[i]
		}
	}
	t.Fatalf("%s, seed %d: no %s", name, seed, invariant)
	return nil, nil, nil
}

// shrinkPatience is more than shrinking takes on a busy machine: the limit is in runs.
const shrinkPatience = 5 * time.Minute

// Two runs of whereabouts#162, with five pods on three nodes and two networks, shrink to one
// finding: a pod whose address is released while its status is not written yet.
func TestShrinkTwoSeedsOfOneBug(t *testing.T) {
	longtest.Skip(t)
	r := scenariotest.Runner(t)
	prints := map[string]bool{}
	for _, seed := range []uint64{11, 10} {
		s, rep, v := failingRun(t, r, "r1-whereabouts-162", "unbacked-sandbox", seed)
		f, err := shrink.Shrink(context.Background(), r, s, rep, v, shrink.Options{Samples: 5, Time: shrinkPatience})
		if err != nil {
			t.Fatal(err)
		}
		prints[fmt.Sprintf("%q", f.Cause.Key())] = true
		if f.Pods > 2 || f.Nodes > 2 || f.Switches > 3 || f.Faults > 0 || f.Steps >= v.Step {
			t.Errorf("seed %d: %d pods, %d nodes, %d switches, %d faults, %d steps; want 2, 2, 3, 0 at most\n%s",
				seed, f.Pods, f.Nodes, f.Switches, f.Faults, f.Steps, f.YAML)
		}
		if !strings.Contains(f.Sentence, "; ip-reconciler removes 10.128.") || f.Sampled != 5 {
			t.Errorf("seed %d: %d samples, %s", seed, f.Sampled, f.Sentence)
		}
		if !slices.Equal(f.Also, []string{"overlap-reservation"}) || !strings.Contains(string(f.YAML), "\n# also: overlap-reservation\n") {
			t.Errorf("seed %d: also %v\n%s", seed, f.Also, f.YAML)
		}
		replayFinding(t, r, f)
	}
	if len(prints) != 1 {
		t.Errorf("two shapes: %v", prints)
	}
}

// The file of a finding has its races as data. The timeline, also that of every replay, marks their
// messages.
func TestShrinkMarksWhatDecides(t *testing.T) {
	r := scenariotest.Runner(t)
	s, rep, v := failingRun(t, r, "found-calico-limit-race", "max-blocks", 3)
	f, err := shrink.Shrink(context.Background(), r, s, rep, v, shrink.Options{Samples: -1, Time: shrinkPatience})
	if err != nil {
		t.Fatal(err)
	}
	again := replayFinding(t, r, f)
	races := f.Cause.Races(&again.Violations[0])
	if len(races) == 0 || !slices.Equal(again.Races, races) {
		t.Fatalf("the cause has %+v, the replay %+v\n%s", races, again.Races, f.YAML)
	}
	story := timeline.Of(again, &again.Violations[0])
	for _, text := range []string{story, string(f.YAML), string(f.Issue(again, &again.Violations[0]))} {
		for _, want := range []string{"A read ", "A change ", "A use ", "A: if the read of step ", "there is no " + f.Invariant + " (simulated)"} {
			if !strings.Contains(text, want) {
				t.Errorf("no %q in\n%s", want, text)
			}
		}
	}
}

// replayFinding loads the file of a finding and runs it, like ipamsim replay.
func replayFinding(t *testing.T, r *scenarios.Runner, f *finding.Finding) *reports.Report {
	t.Helper()
	s, err := managers.All().Parse("finding.yaml", f.YAML)
	if err != nil {
		t.Fatalf("%v\n%s", err, f.YAML)
	}
	rep, err := r.Run(context.Background(), s, scenarios.Options{Recorded: true})
	if err != nil || rep.Digest != s.Doc.Spec.Schedule.Digest || !rep.AsExpected() {
		t.Fatalf("digest %s, recorded %s, %v", rep.Digest, s.Doc.Spec.Schedule.Digest, err)
	}
	return rep
}

// A failure that needs a fault keeps this fault, and no other.
func TestShrinkKeepsFaults(t *testing.T) {
	r := scenariotest.Runner(t)
	for _, tt := range []struct {
		name, invariant string
		seed            uint64
		faults          int
	}{
		{"whereabouts-712-patch-500", "unbacked-sandbox", 2, 1},
		{"calico-12741-tombstone", "actor-crash", 1, 1},
	} {
		s, rep, v := failingRun(t, r, tt.name, tt.invariant, tt.seed)
		f, err := shrink.Shrink(context.Background(), r, s, rep, v, shrink.Options{Samples: -1, Time: shrinkPatience})
		if err != nil {
			t.Fatal(err)
		}
		if f.Faults != tt.faults {
			t.Errorf("%s: %d faults, want %d\n%s", tt.name, f.Faults, tt.faults, f.YAML)
		}
		replayFinding(t, r, f)
	}
}

// When the limits are reached or the context ends, the result is the smallest failure so far. A run
// that does not fail is no finding.
func TestShrinkBounds(t *testing.T) {
	r := scenariotest.Runner(t)
	s, rep, v := failingRun(t, r, "r1-whereabouts-162", "unbacked-sandbox", 11)
	f, err := shrink.Shrink(context.Background(), r, s, rep, v, shrink.Options{Runs: 1, Samples: -1})
	if err != nil || f.Steps > v.Step || f.ShrinkRuns > 7 {
		t.Errorf("%v, %+v", err, f)
	} else {
		replayFinding(t, r, f)
	}
	other := *v
	other.Invariant = "stuck"
	if _, err := shrink.Shrink(context.Background(), r, s, rep, &other, shrink.Options{}); !errors.Is(err, shrink.ErrNotAgain) {
		t.Errorf("a violation that was not there: %v", err)
	}
}
