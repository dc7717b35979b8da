package fuzz_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ipamsim/cmd/managers"
	"ipamsim/fuzz/verify"
	"ipamsim/scenarios"
	"ipamsim/scenarios/scenariotest"
	"ipamsim/sim/hermetic"
	"ipamsim/sim/por"
)

// verifyConfig returns the configuration of a search for a file in testdata, with some words replaced.
func verifyConfig(t *testing.T, file string, b por.Bounds, replace ...string) verify.Config {
	t.Helper()
	if !hermetic.Enabled {
		t.Skip("needs the hermetic runtime: on the stock one schedules do not decide everything")
	}
	text, err := os.ReadFile(filepath.Join("verify", "testdata", file))
	if err != nil {
		t.Fatal(err)
	}
	for old := range slices.Chunk(replace, 2) {
		if !strings.Contains(string(text), old[0]) {
			t.Fatalf("%s does not say %q", file, old[0])
		}
	}
	return verify.Config{
		Managers: managers.All(), File: file, Text: []byte(strings.NewReplacer(replace...).Replace(string(text))),
		Bounds: b, Workers: 2, Command: "verify-process", Dir: t.TempDir(), Build: "test", Probes: 5,
	}
}

// TestVerifyGoesOn: a search that was stopped, and whose last line is incomplete after a kill,
// resumes, repeats no run, and has the same counts as a search without interruption.
func TestVerifyGoesOn(t *testing.T) {
	b := por.Bounds{Preemptions: 1}
	whole, err := verify.Run(t.Context(), verifyConfig(t, "one-of-the-canary.yaml", b))
	if err != nil || !whole.Covered || whole.Broke != nil || whole.Why != nil {
		t.Fatalf("%+v, %v; want a world that is covered", whole, err)
	}
	cfg := verifyConfig(t, "one-of-the-canary.yaml", b)
	ctx, stop := context.WithCancelCause(t.Context())
	defer stop(nil)
	enough := errors.New("enough")
	cfg.OnProgress = func(p por.Progress) {
		if p.Runs >= whole.Runs/2 {
			stop(enough)
		}
	}
	half, err := verify.Run(ctx, cfg)
	if err != nil || half.Covered || !errors.Is(half.Why, enough) || !errors.Is(half.Why, por.ErrPartial) || half.Runs >= whole.Runs {
		t.Fatalf("%+v, %v; want one that was stopped", half, err)
	}
	kept, err := filepath.Glob(filepath.Join(cfg.Dir, "runs-*"))
	if err != nil || len(kept) != 1 {
		t.Fatalf("%v, %v; want one file of runs", kept, err)
	}
	info, err := os.Stat(kept[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(kept[0], info.Size()-10); err != nil {
		t.Fatal(err)
	}
	made := 0
	cfg.OnProgress = func(por.Progress) { made++ }
	rest, err := verify.Run(t.Context(), cfg)
	if err != nil || !rest.Covered || rest.Schedules.Cmp(whole.Schedules) != 0 {
		t.Fatalf("%+v, %v; want %v schedules", rest, err, whole.Schedules)
	}
	if rest.Runs != half.Runs-1+made {
		t.Errorf("%d runs; %d were kept, and %d made", rest.Runs, half.Runs-1, made)
	}
	made = 0
	if again, err := verify.Run(t.Context(), cfg); err != nil || !again.Covered || again.Schedules.Cmp(whole.Schedules) != 0 || made > 2*cfg.Probes {
		t.Errorf("%+v, %v; %d runs were made of a world that is covered", again, err, made)
	}
}

// TestVerifyBreaks: the shortest run that breaks an invariant is a file that replays on the first
// try; an expected violation does not end the search.
func TestVerifyBreaks(t *testing.T) {
	cfg := verifyConfig(t, "whereabouts-162-pods-first.yaml", por.Bounds{Preemptions: 1})
	o, err := verify.Run(t.Context(), cfg)
	if err != nil || o.Broken == nil || o.Meant || o.Broke == nil {
		t.Fatalf("%+v, %v; want one that breaks", o, err)
	}
	if o.Broke.Invariant != "unbacked-sandbox" || !slices.Equal(o.Reached, []por.Bounds{{}}) {
		t.Errorf("%s, covered %+v; want unbacked-sandbox by one preemption, when what needs none is covered", o.Broke.Invariant, o.Reached)
	}
	s, err := cfg.Managers.Load(o.Finding)
	if err != nil {
		t.Fatal(err)
	}
	rep, err := scenariotest.Open(t).Run(t.Context(), s, scenarios.Options{Recorded: true})
	if err != nil || rep.Digest != o.Report.Digest || len(rep.Violations) == 0 {
		t.Errorf("the finding replays as %v, %v; want digest %s", rep, err, o.Report.Digest)
	}
}

// TestVerifyExpects: a covered scenario that expects a violation is as expected if the violation
// occurs; if no schedule shows it, the outcome lists it as unmet.
func TestVerifyExpects(t *testing.T) {
	const bug, expect = `"range": "10.0.0.0/28"`, "until: 10s\n"
	planted := bug + `, "bug": "out-of-pool"`
	said := "until: 10s\n  expect: {violations: [out-of-pool]}\n"
	for _, tt := range []struct {
		name           string
		replace        []string
		broken, expect bool
		unmet          string
	}{
		{"nothing breaks", nil, false, false, ""},
		{"unexpected", []string{bug, planted}, true, false, ""},
		{"as expected", []string{bug, planted, expect, said}, false, true, ""},
		{"no schedule shows it", []string{expect, said}, false, false, "out-of-pool"},
		{"it may, and does not", []string{expect, strings.Replace(said, "violations", "may", 1)}, false, false, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			o, err := verify.Run(t.Context(), verifyConfig(t, "one-of-the-canary.yaml", por.Bounds{}, tt.replace...))
			if err != nil {
				t.Fatal(err)
			}
			if broken := o.Broken != nil; broken != tt.broken || o.Covered == broken || (o.Expected != nil) != tt.expect || strings.Join(o.Unmet, " ") != tt.unmet {
				t.Errorf("broken %v, covered %v, expected %v, unmet %v; want %+v", broken, o.Covered, o.Expected != nil, o.Unmet, tt)
			}
		})
	}
}
