package plan_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"ipamsim/model/capacity"
	"ipamsim/scenarios"
	"ipamsim/scenarios/plan"
)

func runner(t *testing.T) *scenarios.Runner {
	t.Helper()
	r, err := scenarios.NewRunner()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close() })
	return r
}

// onlyReal are what no reference knows.
var onlyReal = cmpopts.IgnoreFields(capacity.Course{}, "Calls", "AddMedian", "AddP99", "Violations", "Digest")

// TestReal: the good plans, with both engines.
func TestReal(t *testing.T) {
	r := runner(t)
	for _, name := range goods(t) {
		p := load(t, name)
		if err := p.Set(plan.Both, 1); err != nil {
			t.Fatal(err)
		}
		for _, pt := range p.Points() {
			if pt.Engine != plan.Real {
				continue
			}
			t0 := time.Now()
			real, err := p.Run(context.Background(), r, pt)
			if err != nil {
				t.Fatal(err)
			}
			pt.Engine = plan.Reference
			ref, err := p.Run(context.Background(), r, pt)
			if err != nil {
				t.Fatal(err)
			}
			if real.Refused != "" || ref.Refused != "" {
				t.Errorf("%s, %s: real %q, reference %q", name, p.Cells[pt.Cell].Title(), real.Refused, ref.Refused)
				continue
			}
			if diff := cmp.Diff(ref.Course, real.Course, onlyReal); diff != "" {
				t.Errorf("%s, %s: %s", name, p.Cells[pt.Cell].Title(), diff)
			}
			t.Logf("%s %s, %s: adds %d refused %d; %d calls, %s, %s, %v", time.Since(t0), name, p.Cells[pt.Cell].Title(), real.Course.Adds, real.Course.Refused, real.Course.Calls, real.Course.AddMedian, real.Course.AddP99, real.Course.Violations)
		}
	}
}
