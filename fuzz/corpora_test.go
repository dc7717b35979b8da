package fuzz_test

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"hash/fnv"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"ipamsim/cmd/managers"
	"ipamsim/fuzz/input"
	"ipamsim/scenarios"
	"ipamsim/sim/hermetic"
)

var update = flag.Bool("update", false, "rewrite the seed corpora in testdata/fuzz")

// Bounds of what is in a seed corpus: every file is run whenever the tests are,
// and again and again by the fuzzer.
const (
	seedSteps = 450
	seedBytes = 16 << 10
	drawnMax  = 6 // worlds drawn from bytes, for each target
)

// due is true for the seeds that are looked at: all when they are rewritten, else a
// quarter. What moves schedules moves most of them.
func due(name string) bool {
	h := fnv.New32a()
	h.Write([]byte(name))
	return *update || h.Sum32()%4 == 0
}

// The seed corpora are what the library and the spaces make of them: the small
// scenarios as they run, and a few drawn worlds as their own strategies run them.
func TestCorporaAreCurrent(t *testing.T) {
	if !hermetic.Enabled {
		t.Skip("SKIPPED: needs the hermetic build; run make test")
	}
	r, err := runner()
	if err != nil {
		t.Fatal(err)
	}
	for _, target := range input.Targets(managers.All()) {
		want := map[string][]byte{}
		fromLibrary(t, r, target, want)
		fromSpace(t, r, target, want)
		compare(t, filepath.Join("testdata", "fuzz", target), want)
	}
}

// fuzzed says which target takes the scenarios of an address manager.
var fuzzed = map[string]string{"calico": "FuzzCalico", "calico+whereabouts": "FuzzMixed", "calico-lb": "FuzzCalicoLb", "host-local": "FuzzHostLocal", "metallb": "FuzzMetallb", "nodeipam": "FuzzNodeipam", "services": "FuzzServices", "whereabouts": "FuzzWhereabouts"}

// fromLibrary adds the scenarios that are small.
func fromLibrary(t *testing.T, r *scenarios.Runner, target string, to map[string][]byte) {
	files, err := filepath.Glob("../scenarios/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scenarios: %v", err)
	}
	for _, file := range files {
		if long(file) {
			continue
		}
		s, err := managers.All().Load(file)
		if err != nil {
			t.Fatal(err)
		}
		if fuzzed[s.Doc.Spec.IPAM] != target || !due(s.Name()) || slices.ContainsFunc(s.Doc.Spec.Reconcilers, ours) {
			continue
		}
		s = s.WithSimpleControllers() // as every input runs
		s.Doc.Spec.Limits.Steps = seedSteps
		in, rep, err := input.Record(context.Background(), r, s, scenarios.Options{Store: scenarios.Memory})
		if err != nil {
			t.Fatal(err)
		}
		if text := in.File(); rep.Reason == "" && len(text) <= seedBytes {
			to[s.Name()] = text
		}
	}
}

// ours is a reconciler of the reference, wrong on purpose: see scenarios/r3-*.
func ours(r scenarios.Reconciler) bool { return strings.HasPrefix(r.Name, "reference-") }

// long reports whether the golden of a scenario tells of more steps than a seed has.
func long(file string) bool {
	text, err := os.ReadFile(strings.TrimSuffix(file, ".yaml") + ".golden")
	m := stepsOf.FindSubmatch(text)
	if err != nil || m == nil {
		return false
	}
	steps, err := strconv.Atoi(string(m[1]))
	return err == nil && steps > seedSteps
}

var stepsOf = regexp.MustCompile(`(\d+) steps?,`)

// fromSpace adds drawn worlds.
func fromSpace(t *testing.T, r *scenarios.Runner, target string, to map[string][]byte) {
	for seed, n := uint64(1), 0; n < drawnMax; seed++ {
		name := fmt.Sprintf("drawn-%d", seed)
		_, err := os.Stat(filepath.Join("testdata", "fuzz", target, name))
		switch {
		case !*update && seed > 50*drawnMax:
			t.Fatalf("%s: want %d drawn worlds; go test ./fuzz -run Corpora -update", target, drawnMax)
		case !*update && err != nil:
			continue // too long, or too large
		case !due(name):
			n++
			continue
		}
		in := input.Input{World: input.Choices(seed)}
		s, err := in.Scenario(managers.All(), target)
		if err != nil {
			t.Fatal(err)
		}
		s.Doc.Spec.Limits.Steps = seedSteps
		recorded, rep, err := input.Record(context.Background(), r, s, scenarios.Options{Store: scenarios.Memory})
		if err != nil {
			t.Fatal(err)
		}
		in.Schedule = recorded.Schedule
		if text := in.File(); rep.Reason == "" && len(text) <= seedBytes {
			to[name] = text
			n++
		}
	}
}

// compare holds a corpus against what it should be, or rewrites it. Files with
// other names than it makes are somebody's: crashes that were kept, on purpose.
func compare(t *testing.T, dir string, want map[string][]byte) {
	if *update {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(want)) {
		file := filepath.Join(dir, name)
		if *update {
			if err := os.WriteFile(file, want[name], 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if got, err := os.ReadFile(file); err != nil || !bytes.Equal(got, want[name]) {
			t.Errorf("%s is not what its scenario makes now (%v); go test ./fuzz -run Corpora -update", file, err)
		}
	}
}
