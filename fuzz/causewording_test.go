package fuzz_test

import (
	"slices"
	"testing"

	"ipamsim/cmd/managers"
	"ipamsim/fuzz/cause"
	"ipamsim/fuzz/finding"
	"ipamsim/model"
	"ipamsim/reports"
	"ipamsim/scenarios"
	"ipamsim/scenarios/scenariotest"
	"ipamsim/sim/hermetic"
	"ipamsim/sim/longtest"
)

// TestCauseWording: causes and signatures do not depend on the texts of messages.
func TestCauseWording(t *testing.T) {
	longtest.Skip(t)
	if !hermetic.Enabled {
		t.Skip("SKIPPED: needs the hermetic build; run make test")
	}
	r := scenariotest.Runner(t)
	identities := func(rep *reports.Report) (out []string) {
		for i := range rep.Violations {
			v := &rep.Violations[i]
			c := cause.Of(rep, v)
			out = append(out, c.Key()+" "+string(c.Trigger)+" "+finding.SignatureOf(rep, v).String())
		}
		return out
	}
	for _, name := range []string{
		"r1-whereabouts-162", "whereabouts-624-late-delete", "found-node-slice-panic", "found-calico-half-release", "w5-as-it-was", "w4-repair-too-early",
	} {
		s, err := managers.All().Load("../scenarios/" + name + ".yaml")
		if err != nil {
			t.Fatal(err)
		}
		rep, err := r.Run(t.Context(), s, scenarios.Options{Store: scenarios.Memory})
		if err != nil {
			t.Fatal(err)
		}
		want := identities(rep)
		for i := range rep.Violations {
			rep.Violations[i].Message = "in other words"
		}
		for i := range rep.History.Events {
			if e := &rep.History.Events[i]; e.Kind != model.ActorPanic { // the text of a panic is its stack
				e.Text = "in other words"
			}
		}
		if got := identities(rep); len(want) == 0 || !slices.Equal(got, want) {
			t.Errorf("%s: %q\nwant %q", name, got, want)
		}
	}
}
