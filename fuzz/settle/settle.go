// Package settle shrinks failures whose signature matches a known cause. Another cause may
// have the same signature, and only the shrunk run shows which one it is. So a search shrinks
// some failures of each known signature, and their causes may be new.
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

// The effort of a search for known signatures.
const (
	Instances = 3   // failures of each signature
	Credit    = 100 // runs, plus one for each scenario of the search
)

// Signatures counts the known signatures whose failures were shrunk, and the runs for that.
// The zero value is ready to use.
type Signatures struct {
	tried map[string]int
	runs  int
}

// Tried records one failure of each signature, and the runs that shrinking them took together.
func (l *Signatures) Tried(signatures []string, runs int) {
	if l.tried == nil {
		l.tried = map[string]int{}
	}
	for _, signature := range signatures {
		l.tried[signature]++
	}
	l.runs += runs
}

// Due reports whether more failures may be shrunk after so many scenarios. The limit is in runs, not
// in time, so that it does not depend on the machine.
func (l *Signatures) Due(worlds int) bool { return l.runs < Credit+worlds }

// Settled returns the signatures whose failures are no longer shrunk, sorted.
func (l *Signatures) Settled() (out []string) {
	for signature, n := range l.tried {
		if n >= Instances {
			out = append(out, signature)
		}
	}
	slices.Sort(out)
	return out
}

// Trial is the result of shrinking some failures of one run.
type Trial struct {
	Signatures []string           // of the failures that were shrunk
	News       []*finding.Finding // with a cause that is on no list
	Runs       int                // that shrinking took
}

// Try shrinks failures whose signature is that of a cause that a scenario shows: one for each signature
// that is not settled.
//
// A failure that cannot be shrunk within the limits is not news: it may still contain parts that do not
// belong to its cause. Neither is a failure that does not occur again.
func Try(ctx context.Context, r *scenarios.Runner, s *scenarios.Scenario, rep *reports.Report, all []*model.Violation, k known.Causes, settled []string, o shrink.Options) (t Trial, err error) {
	o.Samples = -1
	for _, v := range all {
		signature := cause.Of(rep, v).Signature()
		if !k.Shown(signature) || slices.Contains(settled, signature) || slices.Contains(t.Signatures, signature) || t.Runs >= o.Runs || ctx.Err() != nil {
			continue
		}
		t.Signatures = append(t.Signatures, signature)
		f, err := shrink.Shrink(ctx, r, s, rep, v, o)
		if errors.Is(err, shrink.ErrNotAgain) {
			t.Runs++
			continue
		} else if err != nil {
			return t, fmt.Errorf("%s: %w", signature, err)
		}
		if t.Runs += f.ShrinkRuns; f.ShrinkRuns < o.Runs && f.ShrinkSeconds < o.Time.Seconds() && k.Cause(&f.Cause) == "" {
			t.News = append(t.News, f)
		}
	}
	return t, nil
}
