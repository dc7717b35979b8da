package plan_test

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ipamsim/scenarios/plan"
)

// Every good plan runs with the reference, and twice the same.
func TestReference(t *testing.T) {
	for _, name := range goods(t) {
		p := load(t, name)
		if err := p.Set(plan.Reference, 2); err != nil {
			t.Fatal(err)
		}
		for _, pt := range p.Points() {
			a, err := p.Run(context.Background(), nil, pt)
			if err != nil {
				t.Fatalf("%s: %+v: %v", name, pt, err)
			}
			b, err := p.Run(context.Background(), nil, pt)
			if diff := cmp.Diff(a, b); diff != "" || err != nil {
				t.Errorf("%s: %+v: %v\n%s", name, pt, err, diff)
			}
			if a.Refused != "" {
				t.Errorf("%s: %s: %s", name, p.Cells[pt.Cell].Title(), a.Refused)
				continue
			}
			if n := len(a.Course.Samples); n != p.Doc.Spec.Samples || a.Course.Samples[n-1].At != p.Cells[pt.Cell].Cluster.Horizon {
				t.Errorf("%s: %d samples", name, n)
			}
			if pt.Repeat == 0 {
				t.Logf("%s, %s: %+v", name, p.Cells[pt.Cell].Title(), a.Course.Samples[p.Doc.Spec.Samples-1])
			}
		}
	}
}
