package main

import (
	"fmt"
	"slices"

	"ipamsim/reports"
	"ipamsim/sim/hermetic"
)

// check complains about a run that may not repeat: on the hermetic runtime
// something outside the bubble woke something inside, and the seed did not decide
// when.
func (s *session) check(rep *reports.Report) {
	if hermetic.Enabled && rep.Foreign != 0 {
		s.defect(rep, fmt.Sprintf("%s from outside the bubble: the run may not repeat; this is a defect of ipamsim, please report it", plural(int(rep.Foreign), "wake-up")))
	}
}

// compare says whether two runs of one seed were the same, and if not, where
// they parted.
func (s *session) compare(a, b *reports.Report) {
	parted := ""
	switch {
	case a.Digest != b.Digest || !slices.Equal(a.Trace.Schedule(), b.Trace.Schedule()):
		parted = "the schedule logs differ " + firstDifference(a, b)
	case a.StoreDigest != b.StoreDigest:
		parted = fmt.Sprintf("the same schedule left another store: %s, then %s", a.StoreDigest, b.StoreDigest)
	default:
		return
	}
	why := "this is a defect of ipamsim, please report it"
	if !hermetic.Enabled {
		why = "that is to be expected on the stock Go runtime; make build uses the hermetic one"
	}
	s.defect(a, "not deterministic: "+parted+"; "+why)
}

func firstDifference(a, b *reports.Report) string {
	for i, x := range a.Trace.Steps {
		if i >= len(b.Trace.Steps) {
			break
		}
		if y := b.Trace.Steps[i]; x.String() != y.String() {
			return fmt.Sprintf("from step %d on: [%s], then [%s]", x.Step, x, y)
		}
	}
	return fmt.Sprintf("after %d and %d steps", len(a.Trace.Steps), len(b.Trace.Steps))
}

func (s *session) defect(rep *reports.Report, what string) {
	s.defects++
	s.bar.above(func() {
		fmt.Fprintf(s.warn, "ipamsim: %s\n", reports.Clean(fmt.Sprintf("%s seed %d: %s", rep.Scenario, rep.Seed, what)))
	})
}
