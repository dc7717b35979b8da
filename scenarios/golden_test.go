package scenarios_test

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"ipamsim/cmd/managers"
	"ipamsim/reports"
	"ipamsim/scenarios"
	"ipamsim/scenarios/scenariotest"
	"ipamsim/sim/hermetic"
)

// library are the scenarios' files, by name.
func library(t testing.TB) []string {
	t.Helper()
	files, err := filepath.Glob("*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scenarios: %v", err)
	}
	return files
}

// load a scenario with cheap controllers, where it does not say which it wants; own with
// those that it runs with.
func load(t testing.TB, file string) *scenarios.Scenario {
	t.Helper()
	return own(t, file).WithSimpleControllers()
}

// load162 is the run of whereabouts#162 that tests know step by step.
func load162(t testing.TB) *scenarios.Scenario {
	t.Helper()
	s, seed := load(t, "r1-whereabouts-162.yaml"), uint64(2)
	s.Doc.Spec.Seed = &seed
	return s
}

func own(t testing.TB, file string) *scenarios.Scenario {
	t.Helper()
	s, err := managers.All().Load(file)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// runner is this process' one embedded etcd.
func runner(t testing.TB) *scenarios.Runner {
	t.Helper()
	return scenariotest.Runner(t)
}

func run(t testing.TB, r *scenarios.Runner, s *scenarios.Scenario, o scenarios.Options) *reports.Report {
	t.Helper()
	rep, err := r.Run(context.Background(), s, o)
	if err != nil {
		t.Fatalf("%s seed %v: %v", s.Name(), o.Seed, err)
	}
	return rep
}

// chosen is the part of the library that -pick names.
func chosen(t testing.TB) []string {
	t.Helper()
	all := library(t)
	if *pick == "long" {
		return slices.DeleteFunc(all, func(f string) bool { return stepsIn(f) <= many })
	}
	n, err := strconv.Atoi(*pick)
	switch {
	case *pick == "":
		return all
	case err != nil || n < 1:
		t.Fatalf("-pick: want long or a number, have %q", *pick)
	}
	var some []string
	for i := range min(n, len(all)) {
		some = append(some, all[i*len(all)/min(n, len(all))])
	}
	return some
}

// long reports whether a scenario takes seconds. make test runs it once; make nightly runs all of them
// again, and so does -pick.
func long(file string) bool { return stepsIn(file) > many && !*full && *pick == "" }

const (
	many      = 2500 // steps
	leftToday = "SKIPPED: over 2,500 steps; make nightly"
)

// stepsIn returns the number of steps in the golden of a scenario.
func stepsIn(file string) int {
	text, err := os.ReadFile(strings.TrimSuffix(file, ".yaml") + ".golden")
	if err != nil {
		return 0
	}
	steps := 0
	if m := stepsOf.FindSubmatch(text); m != nil {
		steps, _ = strconv.Atoi(string(m[1]))
	}
	return steps
}

var stepsOf = regexp.MustCompile(`(\d+) steps?,`)

// replay follows the list of a run's decisions.
func replay(t *testing.T, r *scenarios.Runner, s *scenarios.Scenario, rep *reports.Report) {
	t.Helper()
	again := run(t, r, s, scenarios.Options{Seed: &rep.Seed, Schedule: rep.Trace.Schedule()})
	if again.Digest != rep.Digest || again.StoreDigest != rep.StoreDigest {
		t.Errorf("the replay differs: digest %s and %s, store %s and %s", rep.Digest, again.Digest, rep.StoreDigest, again.StoreDigest)
	}
}

// TestReplayOfRecordedSchedule replays the long ones, too.
func TestReplayOfRecordedSchedule(t *testing.T) {
	if !hermetic.Enabled {
		t.Skip("SKIPPED: needs the hermetic build; run make test")
	}
	if *pick == "" && !*full {
		t.Skip("SKIPPED: TestLibrary replays all but the long ones; make nightly")
	}
	r := runner(t)
	for _, file := range chosen(t) {
		t.Run(strings.TrimSuffix(file, ".yaml"), func(t *testing.T) {
			s := own(t, file)
			replay(t, r, s, run(t, r, s, scenarios.Options{}))
		})
	}
}
