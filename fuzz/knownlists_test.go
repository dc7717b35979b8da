package fuzz_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"ipamsim/cmd/managers"
	"ipamsim/fuzz/cause"
	"ipamsim/fuzz/input"
	"ipamsim/fuzz/known"
	"ipamsim/fuzz/shrink"
	"ipamsim/reports"
	"ipamsim/scenarios"
	"ipamsim/sim/hermetic"
)

// TestLibraryIsKnown writes the lists of known causes: with -update it shrinks each failure of the
// library to get its cause. TestLibrary of package scenarios checks that the lists are complete.
func TestLibraryIsKnown(t *testing.T) {
	if !*update {
		t.Skip("SKIPPED: writes the lists: -update")
	}
	if !hermetic.Enabled {
		t.Skip("SKIPPED: needs the hermetic build; run make test")
	}
	r, err := runner()
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("../scenarios/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scenarios: %v", err)
	}
	lists := map[string]map[string][]string{} // list → key of a cause → scenarios
	for _, file := range files {
		s, err := managers.All().Load(file)
		if err != nil {
			t.Fatal(err)
		}
		target, ok := fuzzed[s.Doc.Spec.IPAM]
		if !ok || !due(s.Name()) {
			continue
		}
		list := input.Lists(managers.All(), target)[0]
		rep, err := r.Run(t.Context(), s, scenarios.Options{})
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%s: %d violations", s.Name(), len(rep.Violations))
		seen := map[string]bool{}
		for i := range rep.Violations {
			c := cause.Of(rep, &rep.Violations[i])
			if seen[c.Signature()] {
				continue
			}
			seen[c.Signature()] = true
			for _, c := range shown(t, r, s, rep, i) {
				line := strings.TrimSuffix(known.Line(c, ""), " ")
				if lists[list] == nil {
					lists[list] = map[string][]string{}
				}
				if !slices.Contains(lists[list][line], s.Name()) {
					lists[list][line] = append(lists[list][line], s.Name())
				}
			}
		}
	}
	for list, causes := range lists {
		var b strings.Builder
		fmt.Fprintf(&b, listHead, list)
		for _, line := range slices.Sorted(maps.Keys(causes)) {
			fmt.Fprintf(&b, "%s scenarios: %s\n", line, strings.Join(causes[line], ", "))
		}
		for _, line := range seen(t, list) {
			if _, shown := causes[line[:strings.Index(line, known.Seen)-1]]; !shown {
				b.WriteString(line + "\n")
			}
		}
		if err := os.WriteFile(listFile(list), []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// seen returns the lines of a list for causes that no scenario shows.
func seen(t *testing.T, list string) (out []string) {
	b, err := os.ReadFile(listFile(list))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(b)) {
		if strings.Contains(line, " | "+known.Seen) {
			out = append(out, strings.TrimSuffix(line, "\n"))
		}
	}
	return out
}

const listHead = `# Causes of failure that are known of %s, a line each: the kind of violation and the
# first link of its cause | the rest of the cause | the scenarios that show it (their rows
# are in reports/README.md), or an example of what a search saw that no scenario shows yet.
# Written by go test ./fuzz -run LibraryIsKnown -update.
`

// runsMax is enough to shrink most failures; for large ones the first link is right after a few
// runs. The limit is not in time, so that the lists do not depend on the machine.
const runsMax = 100

// shown returns the causes of a violation of a scenario: after shrinking, as a search would find
// it, and without shrinking if that has another signature. A cause with the same signature but
// fewer links would match every failure with that signature.
func shown(t *testing.T, r *scenarios.Runner, s *scenarios.Scenario, rep *reports.Report, i int) []*cause.Cause {
	v := &rep.Violations[i]
	out := []*cause.Cause{cause.Of(rep, v)}
	f, err := shrink.Shrink(t.Context(), r, s, rep, v, shrink.Options{Samples: -1, Runs: runsMax, Time: time.Hour})
	if err != nil {
		t.Logf("%s: %s is not made small: %v", s.Name(), v.Invariant, err)
		return out
	}
	if out[0].Signature() == f.Cause.Signature() {
		out = nil
	}
	return append(out, &f.Cause)
}
