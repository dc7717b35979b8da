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

// isNews reports whether a violation is unexpected: not of an invariant that the scenario names,
// and not in the dump.
func isNews(rec *record.Record, v *record.Violation) bool {
	return !rec.AsExpected && !v.Known && !slices.Contains(rec.Expected, v.Invariant)
}

// importedHeadline is headline for a run of an imported cluster.
func importedHeadline(rec *record.Record) (mark, text string) {
	news := 0
	for i := range rec.Violations {
		if isNews(rec, &rec.Violations[i]) {
			news++
		}
	}
	switch {
	case rec.Verdict == reports.Unknown:
		return "?", "Unknown: the run did not finish"
	case news > 0:
		return "✗", "New since the dump: " + layout.Plural(news, "violation")
	case !rec.AsExpected:
		return "✗", "Nothing new since the dump, but an expected violation did not occur"
	case len(rec.Gone) > 0:
		return "=", "Nothing new since the dump, and fewer violations at the end"
	case len(rec.Violations) > 0:
		return "=", "Nothing new since the dump: its violations remain"
	}
	return "✓", "No violation, in the dump or since"
}

// importedExpectation counts the violations of the dump, and those gone at the end.
func importedExpectation(rec *record.Record) string {
	known := 0
	for i := range rec.Violations {
		if rec.Violations[i].Known {
			known++
		}
	}
	switch gone := len(rec.Gone); {
	case known > 0 && gone > 0:
		return fmt.Sprintf("In the dump: %s, %d of them gone at the end.", layout.Plural(known, "violation"), gone)
	case known > 0:
		return fmt.Sprintf("In the dump: %s.", layout.Plural(known, "violation"))
	case gone > 0:
		return fmt.Sprintf("In the dump and gone at the end: %s.", layout.Plural(gone, "violation"))
	}
	return ""
}

// moment is an event of an imported cluster.
type moment struct {
	Step int
	At   time.Duration
	Text string
	New  string // the invariant that breaks here, of a violation
}

// momentsMax is the maximum number of moments on the page; the list of steps has all.
const momentsMax = 60

// course lists the events of an imported cluster since the dump, in order: actions of operators
// and hazards, and new violations. Nil for other runs.
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
