package page

import (
	"fmt"
	"slices"
	"time"

	"ipamsim/model"
	"ipamsim/reports"
	"ipamsim/reports/layout"
	"ipamsim/reports/record"
)

// isNews reports whether a violation was not to be expected: no invariant that the
// scenario names, and nothing that was wrong in the dump.
func isNews(rec *record.Record, v *record.Violation) bool {
	return !rec.AsExpected && !v.Known && !slices.Contains(rec.Expected, v.Invariant)
}

// importedHeadline is headline for a run that begins with a cluster that was read.
func importedHeadline(rec *record.Record) (mark, text string) {
	news := 0
	for i := range rec.Violations {
		if isNews(rec, &rec.Violations[i]) {
			news++
		}
	}
	switch {
	case rec.Verdict == reports.Unknown:
		return "?", "Nothing is proved: the run did not get to its end"
	case news > 0:
		return "✗", "New since the dump: " + layout.Plural(news, "violation")
	case !rec.AsExpected:
		return "✗", "Nothing new since the dump, and what the scenario expects did not happen"
	case len(rec.Gone) > 0:
		return "=", "Nothing new since the dump, and less is wrong at the end"
	case len(rec.Violations) > 0:
		return "=", "Nothing new since the dump: what was wrong in it still is"
	}
	return "✓", "Nothing is wrong: not in the dump, and not since"
}

// importedExpectation says how much of what was wrong in the dump the run shows again.
func importedExpectation(rec *record.Record) string {
	known := 0
	for i := range rec.Violations {
		if rec.Violations[i].Known {
			known++
		}
	}
	switch gone := len(rec.Gone); {
	case known > 0 && gone > 0:
		return fmt.Sprintf("In the dump already: %s. No more so at the end: %d.", layout.Plural(known, "violation"), gone)
	case known > 0:
		return fmt.Sprintf("In the dump already: %s.", layout.Plural(known, "violation"))
	case gone > 0:
		return fmt.Sprintf("In the dump, and no more at the end: %s.", layout.Plural(gone, "violation"))
	}
	return ""
}

// moment is a line of what happened to an imported cluster.
type moment struct {
	Step int
	At   time.Duration
	Text string
	New  string // the invariant that breaks here, of a violation
}

// momentsMax is how many of them are told; the list of steps has all.
const momentsMax = 60

// course is what happened to an imported cluster since it was read, in order: what
// people and hazards did, and what is new. Nil of other runs.
type course struct {
	Moments []moment
	Left    int // that are not among them
}

func courseOf(rec *record.Record) *course {
	if !rec.Imported {
		return nil
	}
	var all []moment
	for i := range rec.Events {
		if e := &rec.Events[i]; e.Kind == string(model.Operator) || e.Kind == string(model.FaultEvent) {
			all = append(all, moment{Step: e.Step, At: e.At, Text: e.Text})
		}
	}
	for i := range rec.Violations {
		if v := &rec.Violations[i]; isNews(rec, v) {
			all = append(all, moment{Step: v.Step, At: v.At, Text: v.Message, New: v.Invariant})
		}
	}
	slices.SortStableFunc(all, func(a, b moment) int { return a.Step - b.Step })
	c := &course{Moments: all[:min(len(all), momentsMax)]}
	c.Left = len(all) - len(c.Moments)
	return c
}
