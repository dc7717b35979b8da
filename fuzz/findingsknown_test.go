package fuzz_test

import (
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"ipamsim/cmd/managers"
	"ipamsim/fuzz/campaign"
	"ipamsim/fuzz/cause"
	"ipamsim/fuzz/input"
	"ipamsim/fuzz/known"
	"ipamsim/model"
	"ipamsim/reports"
	"ipamsim/reports/index"
	"ipamsim/scenarios"
	"ipamsim/sim"
	"ipamsim/sim/hermetic"
)

var findings = flag.String("findings", "", "the findings of a campaign in this folder are known, of -target")
var ofTarget = flag.String("target", "FuzzWhereabouts", "whose lists")

// The findings of campaigns in the releases are known:
//
//	go test ./fuzz -run FindingsAreKnown -findings findings/calico -target FuzzCalico -learn
func TestFindingsAreKnown(t *testing.T) {
	if *findings == "" || !hermetic.Enabled {
		t.Skip("no -findings: nothing to check")
	}
	r, err := runner()
	if err != nil {
		t.Fatal(err)
	}
	k, err := known.Load(knownDir, input.Lists(managers.All(), *ofTarget)...)
	if err != nil {
		t.Fatal(err)
	}
	var all []index.Finding
	if b, err := os.ReadFile(filepath.Join(*findings, campaign.FindingsFile)); err != nil {
		t.Fatal(err)
	} else if err := json.Unmarshal(b, &all); err != nil {
		t.Fatal(err)
	}
	for i := range all {
		f := &all[i]
		if !f.Small {
			continue // its cause is not precise enough
		}
		s, err := managers.All().Load(filepath.Join(*findings, f.File))
		if err != nil {
			t.Error(err)
			continue
		}
		rep, err := r.Run(t.Context(), s, scenarios.Options{Recorded: true})
		if err != nil {
			t.Error(err)
			continue
		}
		v := shownBy(rep, f.Invariant)
		if v == nil {
			t.Errorf("%s: it does not break %s any more", f.File, f.Invariant)
			continue
		}
		c := decided(rep, v)
		t.Logf("%s\t%s\t%s\t%s\t%s\t%s", f.File, v.Invariant, c.Fingerprint(), c.Trigger, c.Name(), c.Key())
		for _, key := range append(f.Keys, known.Key(c)) {
			if *learn {
				err = errors.Join(err, noteKey(&k, *ofTarget, key, known.SeenAs(v.Message)))
			} else if k.LearnKey(key, known.Seen) {
				t.Errorf("%s: no list knows %s", f.File, key)
			}
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// shownBy returns the violation of a finding, with which its run ends: the last one of its invariant.
func shownBy(rep *reports.Report, invariant string) (out *model.Violation) {
	for i := range rep.Violations {
		if v := &rep.Violations[i]; v.Invariant == invariant {
			out = v
		}
	}
	return out
}

// decided returns the cause of a violation with the races in the finding's file.
func decided(rep *reports.Report, v *model.Violation) *cause.Cause {
	c := cause.Of(rep, v)
	step := func(n int) *sim.Step {
		return rep.Trace.Steps[slices.IndexFunc(rep.Trace.Steps, func(s *sim.Step) bool { return s.Step == n })]
	}
	for _, r := range rep.Races {
		if r.Invariant == v.Invariant && r.Code == v.Code {
			c.Decided(rep, cause.Race{Read: step(r.Read), Change: step(r.Change)})
		}
	}
	return c
}
