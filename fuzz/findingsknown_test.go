package fuzz_test

import (
	"flag"
	"path/filepath"
	"testing"

	"ipamsim/fuzz/cause"
	"ipamsim/fuzz/input"
	"ipamsim/fuzz/known"
	"ipamsim/scenarios"
	"ipamsim/sim/hermetic"
)

var findings = flag.String("findings", "", "the findings of a campaign in this folder are known, of -target")
var ofTarget = flag.String("target", "FuzzWhereabouts", "whose lists")

// What a campaign has found in the releases is known:
//
//	go test ./fuzz -run FindingsAreKnown -findings findings/calico -target FuzzCalico -learn
func TestFindingsAreKnown(t *testing.T) {
	if *findings == "" || !hermetic.Enabled {
		t.Skip("no -findings: nothing to look at")
	}
	r, err := runner()
	if err != nil {
		t.Fatal(err)
	}
	k, err := known.Load(knownDir, input.Lists(*ofTarget)...)
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(*findings, "*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no findings: %v", err)
	}
	for _, file := range files {
		s, err := scenarios.Load(file)
		if err != nil {
			t.Error(err)
			continue
		}
		rep, err := r.Run(t.Context(), s, scenarios.Options{Recorded: true})
		if err != nil {
			t.Error(err)
			continue
		}
		for i := range rep.Violations {
			v := &rep.Violations[i]
			c := cause.Of(rep, v)
			t.Logf("%s\t%s\t%s\t%s", filepath.Base(file), v.Invariant, c.Name(), c.Key())
			switch {
			case k.Look(c) != "":
			case *learn:
				if err := add(&k, *ofTarget, c, known.SeenAs(v.Message)); err != nil {
					t.Fatal(err)
				}
			default:
				t.Errorf("%s: no list knows %s", file, c.Look())
			}
		}
	}
}
