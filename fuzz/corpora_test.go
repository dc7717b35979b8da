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

// Limits of a seed corpus: every file is run with the tests, and repeatedly by the fuzzer.
const (
	seedSteps = 450
	seedBytes = 16 << 10
	drawnMax  = 6 // generated worlds for each target
)

// due reports whether a seed is checked: all seeds when they are updated, otherwise a quarter. A
// change of schedules affects most of them.
func due(name string) bool {
	h := fnv.New32a()
	h.Write([]byte(name))
	return *update || h.Sum32()%4 == 0
}

// The seed corpora contain the small scenarios of the library, as they run, and a few generated
// worlds, with their own strategies.
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

// fuzzed is the target for the scenarios of an address manager.
var fuzzed = map[string]string{"calico": "FuzzCalico", "calico+whereabouts": "FuzzMixed", "calico-lb": "FuzzCalicoLb", "host-local": "FuzzHostLocal", "metallb": "FuzzMetallb", "nodeipam": "FuzzNodeipam", "services": "FuzzServices", "whereabouts": "FuzzWhereabouts"}

// fromLibrary adds the small scenarios.
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
		s = s.WithSimpleControllers() // as for every input
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

// ours reports whether a reconciler is the project's incorrect reference: see scenarios/r3-*.
func ours(r scenarios.Reconciler) bool { return strings.HasPrefix(r.Name, "reference-") }

// long reports whether the golden of a scenario has more steps than a seed may have.
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

// fromSpace adds generated worlds.
func fromSpace(t *testing.T, r *scenarios.Runner, target string, to map[string][]byte) {
	for seed, n := uint64(1), 0; n < drawnMax; seed++ {
		name := fmt.Sprintf("drawn-%d", seed)
		_, err := os.Stat(filepath.Join("testdata", "fuzz", target, name))
		switch {
		case !*update && seed > 50*drawnMax:
			t.Fatalf("%s: want %d drawn worlds; go test ./fuzz -run Corpora -update", target, drawnMax)
		case !*update && err != nil:
			continue // too many steps or bytes
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

// compare compares a corpus with what it should be, or updates it. Files with other names were
// added by hand, for example crashes, and are kept.
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
