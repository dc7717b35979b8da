package fuzz_test

import (
	"testing"

	"ipamsim/cmd/managers"
	"ipamsim/fuzz/gate"
	"ipamsim/reports/baseline"
	"ipamsim/scenarios"
)

// TestGateBrief: a brief gate does each run once, ends after the part with the first scenario that
// is worse, and reports the same for it as a whole gate.
func TestGateBrief(t *testing.T) {
	hermeticOnly(t)
	dir := t.TempDir()
	a, z, c := gateWorld(t, dir, "a", ""), gateWorld(t, dir, "z", ""), gateWorld(t, dir, "c", "")
	b := gateBaseline(t, a, z, c)
	brief := func() (o *baseline.Outcome, runs int) {
		var all []*scenarios.Scenario
		for _, f := range []string{a.File, z.File, c.File} {
			s, err := managers.All().Load(f)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, s)
		}
		g := &gate.Gate{Scenarios: all, Baseline: b, Parallel: 2, Progress: func(_, all int) { runs = max(runs, all) }}
		o, err := g.Brief(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return o, runs
	}
	if o, runs := brief(); o.Red() || o.Moved != 0 || len(o.Rows) != 3 || o.Runs != 9 || runs != 2*baseline.Seeds {
		t.Errorf("nothing moved: %d rows, %d runs, %d in the largest part, red %t", len(o.Rows), o.Runs, runs, o.Red())
	}
	gateWorld(t, dir, "z", "duplicate-address")
	o, _ := brief()
	if len(o.Rows) != gate.FirstPart || o.Rows[0].Red() || !o.Rows[1].Red() || o.Rows[1].Changes[0].Kind != baseline.NewViolation {
		t.Errorf("a bug in the second one: %+v", o.Rows)
	}
}
