package worker

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"ipamsim/fuzz/campaign/queue"
	"ipamsim/fuzz/cause"
	"ipamsim/fuzz/confirm"
	"ipamsim/fuzz/finding"
	"ipamsim/fuzz/shrink"
	"ipamsim/model"
	"ipamsim/reports"
	"ipamsim/reports/layout"
	"ipamsim/scenarios"
)

// confirmed records a failure of a run in memory only if etcd shows it as well.
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

// keep records the failure with q's signature as a finding.
func (c *served) keep(ctx context.Context, sc *scenarios.Scenario, rep *reports.Report, q ask, a *answer) {
	began := time.Now()
	i := slices.IndexFunc(a.Hits, func(h hit) bool { return h.Signature == q.Signature })
	if i < 0 {
		a.Defect = fmt.Sprintf("%s seed %d did not fail again the same way", rep.Scenario, rep.Seed)
		return
	}
	v, o := a.Hits[i].violation(rep), queue.Thorough
	if q.Time > 0 {
		o.Time = min(q.Time, queue.Thorough.Time)
		o.More = int(q.Time / o.Time)
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
	if rough { // a finding that is not shrunk is better than none
		if f, err = asRecorded(sc, rep, v); err != nil {
			a.Defect = fmt.Sprintf("%s seed %d: %v", rep.Scenario, rep.Seed, err)
			return
		}
	}
	if !rough {
		c.real(ctx, f, min(q.Time, queue.Thorough.Time), began, a)
	}
	kept := queue.Kept{Signature: q.Signature, Finding: f, Rough: rough}
	if kept.Pages, err = Pages(ctx, c.runner, f); err != nil {
		a.Defect = fmt.Sprintf("%s: %v", f.Fingerprint, err)
	}
	f.Real.YAML = nil // it is one of the pages
	a.Kept = append(a.Kept, kept)
}

// real tries to confirm a finding under Kubernetes' own controllers, within the remaining time of
// shrinking. Several instances of one cause are shrunk: the first confirmation counts for
// all, and after realRuns runs without one no more are tried.
func (c *served) real(ctx context.Context, f *finding.Finding, given time.Duration, began time.Time, a *answer) {
	past := c.confirmations[f.Fingerprint]
	if past.Verdict == finding.Confirmed || past.Runs >= realRuns {
		f.Real = past
		return
	}
	o := confirm.Options{}
	if left := given - time.Since(began); given > 0 && left <= 0 {
		return
	} else if given > 0 {
		o.Time = min(left, confirm.Time)
	}
	var err error
	if f.Real, err = confirm.Try(ctx, c.runner, f, o); err != nil {
		a.Defect = fmt.Sprintf("%s: %v", f.Fingerprint, err)
		return
	}
	if f.Real.Verdict == finding.NotConfirmed {
		f.Real.Runs += past.Runs
	}
	if c.confirmations == nil {
		c.confirmations = map[string]finding.Real{}
	}
	c.confirmations[f.Fingerprint] = f.Real
}

// realRuns is the number of runs per cause: a finding that can be confirmed mostly is by then.
const realRuns = 80

// asRecorded returns the finding of a failure that was not shrunk: the whole run, which replays.
func asRecorded(sc *scenarios.Scenario, rep *reports.Report, v *model.Violation) (*finding.Finding, error) {
	f := finding.New(sc, rep, v, nil, cause.Of(rep, v))
	body, err := sc.Finding(rep)
	if err != nil {
		return nil, err
	}
	var head strings.Builder
	for _, line := range append([]string{
		fmt.Sprintf("%s (%s), as recorded: it has not been shrunk, and its fingerprint %s is that of the whole run", f.Invariant, f.Severity, f.Fingerprint), "",
	}, layout.Wrap(f.Sentence, headWidth)...) {
		fmt.Fprintln(&head, strings.TrimSpace("# "+strings.Map(printable, line)))
	}
	fmt.Fprintf(&head, "#\n# %s\n# ipamsim replay %s\n\n", f.Upstream, finding.File(f.Fingerprint))
	f.YAML = append([]byte(head.String()), body...)
	return f, nil
}

// headWidth is the width of a finding's comment, the same as for shrunk findings.
const headWidth = 108
