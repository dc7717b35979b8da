package campaign

import (
	"context"
	"fmt"
	"slices"
	"time"

	"ipamsim/fuzz/cause"
	"ipamsim/fuzz/finding"
	"ipamsim/fuzz/shrink"
	"ipamsim/reports"
	"ipamsim/scenarios"
)

// thorough is how much work a finding may be.
var thorough = shrink.Options{Time: 20 * time.Second}

// confirmed keeps a failure of a run that was done in memory only if etcd shows it as
// well.
func (c *served) confirmed(ctx context.Context, sc *scenarios.Scenario, o scenarios.Options, rep *reports.Report, q ask, a *answer) {
	if rep.Store == scenarios.Memory {
		judge, err := c.runner.Confirm(ctx, sc, o, rep)
		a.repeated(judge)
		if err != nil {
			a.Defect = fmt.Sprintf("%s seed %d: %v", rep.Scenario, rep.Seed, err)
			return
		}
		rep = judge
	}
	c.keep(ctx, sc, rep, q, a)
}

// keep makes a finding of the failure of a run that q names.
func (c *served) keep(ctx context.Context, sc *scenarios.Scenario, rep *reports.Report, q ask, a *answer) {
	i := slices.IndexFunc(a.Hits, func(h hit) bool { return h.Signature == q.Signature })
	if i < 0 {
		a.Defect = fmt.Sprintf("%s seed %d did not fail again the same way", rep.Scenario, rep.Seed)
		return
	}
	v, o := a.Hits[i].violation(rep), thorough
	if q.Time > 0 {
		o.Time = q.Time
	}
	var f *finding.Finding
	var err error
	if q.Shrink {
		if f, err = shrink.Shrink(ctx, c.runner, sc, rep, v, o); err != nil {
			a.Defect = fmt.Sprintf("%s seed %d: %v", rep.Scenario, rep.Seed, err)
		}
	}
	if f != nil {
		a.Repeated.Add(f.Repeated)
	}
	rough := f == nil
	if rough { // better one that is long than none
		f = finding.New(sc, rep, v, nil, cause.Of(rep, v))
		if f.YAML, err = sc.Finding(rep); err != nil {
			return
		}
	}
	kept := Kept{Signature: q.Signature, Finding: f, Rough: rough}
	if rough {
		kept.Pages, err = history(sc, rep, f)
	} else {
		kept.Pages, err = Pages(ctx, c.runner, f)
	}
	if err != nil {
		a.Defect = fmt.Sprintf("%s: %v", f.Fingerprint, err)
	}
	a.Kept = append(a.Kept, kept)
}
