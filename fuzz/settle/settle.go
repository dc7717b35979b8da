// Package settle looks behind what is known. A failure is told from those that are known by
// its look, which another cause may share: only what is left when it is small tells. So a
// search makes some failures of each look small, too, and what they come to may be news.
package settle

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"ipamsim/fuzz/cause"
	"ipamsim/fuzz/finding"
	"ipamsim/fuzz/known"
	"ipamsim/fuzz/shrink"
	"ipamsim/model"
	"ipamsim/reports"
	"ipamsim/scenarios"
)

// What a search spends on looks that are known.
const (
	Instances = 3   // failures of a look
	Credit    = 100 // runs, before the first world; then one for each world that it runs
)

// Looks that are known, of which failures were made small, and what that took. The zero
// value is of a search that begins.
type Looks struct {
	tried map[string]int
	runs  int
}

// Tried notes one failure of each of some looks, and how many runs these took together.
func (l *Looks) Tried(looks []string, runs int) {
	if l.tried == nil {
		l.tried = map[string]int{}
	}
	for _, look := range looks {
		l.tried[look]++
	}
	l.runs += runs
}

// Due reports whether there may be more after so many worlds. It counts runs and not time,
// so that it is the same on a busy machine.
func (l *Looks) Due(worlds int) bool { return l.runs < Credit+worlds }

// Settled are the looks of which no more is made small, sorted.
func (l *Looks) Settled() (out []string) {
	for look, n := range l.tried {
		if n >= Instances {
			out = append(out, look)
		}
	}
	slices.Sort(out)
	return out
}

// Trial is what some failures of one run came to.
type Trial struct {
	Looks []string           // of which one was made small
	News  []*finding.Finding // whose cause is on no list
	Runs  int                // that this took
}

// Try makes failures small that look like causes that scenarios show, one of each look but
// of those that are settled.
//
// One that is not small within the bounds is no news: what is left of it need not belong
// to the cause. Nor is one that does not fail again.
func Try(ctx context.Context, r *scenarios.Runner, s *scenarios.Scenario, rep *reports.Report, all []*model.Violation, k known.Causes, settled []string, o shrink.Options) (t Trial, err error) {
	o.Samples = -1
	for _, v := range all {
		look := cause.Of(rep, v).Look()
		if !k.Shown(look) || slices.Contains(settled, look) || slices.Contains(t.Looks, look) || t.Runs >= o.Runs || ctx.Err() != nil {
			continue
		}
		t.Looks = append(t.Looks, look)
		f, err := shrink.Shrink(ctx, r, s, rep, v, o)
		if errors.Is(err, shrink.ErrNotAgain) {
			t.Runs++
			continue
		} else if err != nil {
			return t, fmt.Errorf("%s: %w", look, err)
		}
		if t.Runs += f.ShrinkRuns; f.ShrinkRuns < o.Runs && f.ShrinkSeconds < o.Time.Seconds() && k.Cause(&f.Cause) == "" {
			t.News = append(t.News, f)
		}
	}
	return t, nil
}
