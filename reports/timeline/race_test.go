package timeline

import (
	"strings"
	"testing"

	"ipamsim/model"
	"ipamsim/reports/golden"
	"ipamsim/reports/storytest"
)

// TestTimelineMarksWhatDecides: the messages whose order decides over a violation, and
// over no other, are in its story and marked, and it is said what happens in the other
// order.
func TestTimelineMarksWhatDecides(t *testing.T) {
	r := storytest.Raced()
	golden.Check(t, "testdata/raced.timeline", Of(r, &r.Violations[0]))
}

// TestWhatDecidesIsNeverLeftOut: of a story that is too long other lines go.
func TestWhatDecidesIsNeverLeftOut(t *testing.T) {
	r := storytest.Crowded()
	v := &r.Violations[0]
	for i := 1; i < 6; i++ {
		r.Races = append(r.Races, model.Race{Invariant: v.Invariant, Read: i, Change: v.Step - i, Use: v.Step})
	}
	text := Of(r, v)
	for _, mark := range []string{"A read", "E read", "A change", "E change", "A,B,C,D,E use", "E: if the read of step 5 comes after the change of step 358"} {
		if !strings.Contains(text, mark) {
			t.Errorf("no %q in\n%s", mark, text)
		}
	}
	if n := strings.Count(text, "\n"); n > linesMax+1 {
		t.Errorf("%d lines:\n%s", n, text)
	}
}
