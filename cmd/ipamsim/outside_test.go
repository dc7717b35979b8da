package main

import (
	"bytes"
	"os"
	"slices"
	"strings"
	"testing"

	"ipamsim/cmd/cli"
	"ipamsim/cmd/managers"
)

// An installed program has no repository beside it: the library, its baseline and the
// known causes are part of it.
func TestOutsideTheRepository(t *testing.T) {
	t.Chdir(t.TempDir())
	run := func(want int, args ...string) string {
		t.Helper()
		var out, errs bytes.Buffer
		if code := cli.Run(args, &out, &errs, managers.All()...); code != want {
			t.Fatalf("ipamsim %s: exit code %d, want %d\n%s%s", strings.Join(args, " "), code, want, out.String(), errs.String())
		}
		return out.String() + errs.String()
	}
	contains := func(text, part string) {
		t.Helper()
		if !strings.Contains(text, part) {
			t.Errorf("no %q in\n%s", part, text)
		}
	}
	demo := run(0, "demo")
	contains(demo, "=> duplicate-address (critical)")
	contains(demo, "reproduce: ipamsim run r1-whereabouts-162 --seed 7")
	contains(demo, "ipamsim scenarios list")

	// A name, a path that does not exist, and a file give the same run.
	mine := run(0, "scenarios", "show", "r1-whereabouts-162")
	if err := os.WriteFile("mine.yaml", []byte(mine), 0o666); err != nil {
		t.Fatal(err)
	}
	var digests []string
	for _, name := range []string{"r1-whereabouts-162", "scenarios/r1-whereabouts-162.yaml", "mine.yaml"} {
		_, digest, _ := strings.Cut(run(0, "run", name, "--json", "-"), `"digest":"`)
		digests = append(digests, digest[:16])
	}
	if len(slices.Compact(digests)) != 1 {
		t.Errorf("digests differ: %s", digests)
	}
	contains(run(2, "gate", "r1-whereabouts-162", "--baseline", "mine.json"), "mine.json")
}
