package campaign

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"ipamsim/fuzz/finding"
	"ipamsim/fuzz/shrink"
	"ipamsim/reports"
	"ipamsim/scenarios"
)

// How much work a finding may be: shrinking, or only to be kept as it is.
var (
	thorough = shrink.Options{Time: 20 * time.Second}
	quick    = shrink.Options{Runs: 1, Time: 10 * time.Second, Samples: -1}
)

// keep makes a finding of the failure of a run that q names.
func (c *cell) keep(ctx context.Context, sc *scenarios.Scenario, rep *reports.Report, q ask, a *answer) {
	i := slices.IndexFunc(a.Hits, func(h hit) bool { return h.Signature == q.Signature })
	if i < 0 {
		a.Defect = fmt.Sprintf("%s seed %d did not fail again the same way", rep.Scenario, rep.Seed)
		return
	}
	v, o := a.Hits[i].violation(rep), quick
	if q.Shrink {
		o = thorough
		if q.Time > 0 {
			o.Time = q.Time
		}
	}
	f, err := shrink.Shrink(ctx, c.runner, sc, rep, v, o)
	if err != nil {
		a.Defect = fmt.Sprintf("%s seed %d: %v", rep.Scenario, rep.Seed, err)
		if !errors.Is(err, shrink.ErrNotAgain) {
			return
		}
		// Better a finding that is long than none.
		f = finding.New(sc, rep, v, nil)
		if f.YAML, err = sc.Finding(rep); err != nil {
			return
		}
	}
	a.Kept = append(a.Kept, Kept{Signature: q.Signature, Finding: f, Rough: !q.Shrink})
}
