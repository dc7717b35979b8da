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
	"ipamsim/reports/golden"
	"ipamsim/scenarios"
	"ipamsim/scenarios/scenariotest"
	"ipamsim/sim/hermetic"
)

// library are the scenarios' files, by name, each under one name only.
func library(t testing.TB) []string {
	t.Helper()
	files, err := filepath.Glob("*.yaml")
	files = slices.DeleteFunc(files, func(f string) bool {
		info, err := os.Lstat(f)
		return err == nil && info.Mode()&os.ModeSymlink != 0
	})
	if err != nil || len(files) == 0 {
		t.Fatalf("no scenarios: %v", err)
	}
	return files
}

func load(t testing.TB, file string) *scenarios.Scenario {
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

// long reports whether a scenario takes seconds. Such a one runs once in make test;
// make nightly runs all of them again, and so does whoever picks some.
func long(file string) bool { return stepsIn(file) > many && !*full && *pick == "" }

const (
	many      = 2500 // steps
	leftToday = "SKIPPED: over 2,500 steps; make nightly"
)

// stepsIn is how many steps the golden of a scenario tells of.
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

// TestGolden runs every scenario of the library with its own seed and strategy,
// twice unless it is long, and compares the story with the file beside it.
func TestGolden(t *testing.T) {
	if !hermetic.Enabled {
		t.Skip("SKIPPED: the goldens are those of the hermetic build; run make test")
	}
	r := runner(t)
	for _, file := range library(t) {
		t.Run(strings.TrimSuffix(file, ".yaml"), func(t *testing.T) {
			s := load(t, file)
			s.File = "scenarios/" + file // as a reader of the golden would type it
			rep := run(t, r, s, scenarios.Options{})
			if !long(file) {
				if again := run(t, r, s, scenarios.Options{}); again.Digest != rep.Digest || again.StoreDigest != rep.StoreDigest {
					t.Fatalf("the second run differs: digest %s and %s, store %s and %s", rep.Digest, again.Digest, rep.StoreDigest, again.StoreDigest)
				}
			}
			if rep.Foreign != 0 {
				t.Errorf("%d wake-ups from outside the bubble", rep.Foreign)
			}
			if !rep.AsExpected() {
				t.Errorf("not as the scenario expects: unexpected %v, missing %v, verdict %s %s", rep.Unexpected(), rep.Missing(), rep.Verdict, rep.Reason)
			}
			golden.Check(t, strings.TrimSuffix(file, ".yaml")+".golden", reports.Golden(rep))
		})
	}
}

// TestReplayOfRecordedSchedule: the list of small integers is all there is.
func TestReplayOfRecordedSchedule(t *testing.T) {
	if !hermetic.Enabled {
		t.Skip("SKIPPED: needs the hermetic build; run make test")
	}
	r := runner(t)
	for _, file := range chosen(t) {
		t.Run(strings.TrimSuffix(file, ".yaml"), func(t *testing.T) {
			if long(file) {
				t.Skip(leftToday)
			}
			s := load(t, file)
			rep := run(t, r, s, scenarios.Options{})
			seed := rep.Seed
			again := run(t, r, s, scenarios.Options{Seed: &seed, Schedule: rep.Trace.Schedule()})
			if again.Digest != rep.Digest {
				t.Errorf("the replay has digest %s, want %s", again.Digest, rep.Digest)
			}
		})
	}
}
