package plan_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"ipamsim/cmd/managers"
	"ipamsim/model/capacity"
	"ipamsim/scenarios/plan"
	"ipamsim/scenarios/scenariotest"
)

// In a cluster that runs and in which nothing happens at first, the first sample is the
// first step of the run: what is stored already is in it.
func TestFirstLook(t *testing.T) {
	cluster := imported(t, "staging.yaml", stagingDump())
	const text = "apiVersion: ipamsim.dev/v1alpha1\nkind: Plan\nmetadata: {name: first}\nspec:\n  from: cluster.yaml\n  horizon: 2d\n  repeats: 1\n  settings: {lifetime: 90d}\n"
	p, err := plan.Parse(managers.All(), "first.yaml", []byte(text), func(string) ([]byte, error) { return cluster, nil })
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Set(plan.Both, 1); err != nil {
		t.Fatal(err)
	}
	r, courses := scenariotest.Runner(t), map[string]*capacity.Course{}
	for _, pt := range p.Points() {
		o, err := p.Run(t.Context(), r, pt)
		if err != nil || o.Refused != "" {
			t.Fatal(err, o.Refused)
		}
		courses[pt.Engine] = o.Course
	}
	want, got := courses[plan.Reference], courses[plan.Real]
	if first := want.Samples[0]; first.InUse != 90 {
		t.Errorf("%d addresses are in use at first, want 90", first.InUse)
	}
	if diff := cmp.Diff(want.Samples, got.Samples); diff != "" {
		t.Errorf("reference -, real +\n%s", diff)
	}
}
