package reports

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"ipamsim/model"
	"ipamsim/reports/golden"
)

// raced is a run of which somebody tried which order decides. Step 70 is of no interest
// otherwise.
func raced() *Report {
	r := sited()
	of := r.Violations[0].Invariant
	r.Races = []model.Race{
		{Invariant: "leaked-claim", Read: 61, Change: 62, Use: 63},
		{Invariant: of, Read: 62, Change: 82, Use: 93},
		{Invariant: of, Read: 70, Change: 82, Use: 93},
		{Invariant: of, Code: "another-kind", Read: 61, Change: 62, Use: 63},
	}
	return r
}

// TestTimelineMarksWhatDecides: the messages whose order decides over a violation, and
// over no other, are in its story and marked, and it is said what happens in the other
// order.
func TestTimelineMarksWhatDecides(t *testing.T) {
	r := raced()
	golden.Check(t, "testdata/raced.timeline", Timeline(r, &r.Violations[0]))
}

// TestWhatDecidesIsNeverLeftOut: of a story that is too long other lines go.
func TestWhatDecidesIsNeverLeftOut(t *testing.T) {
	r := crowded()
	v := &r.Violations[0]
	for i := 1; i < 6; i++ {
		r.Races = append(r.Races, model.Race{Invariant: v.Invariant, Read: i, Change: v.Step - i, Use: v.Step})
	}
	text := Timeline(r, v)
	for _, mark := range []string{"A read", "E read", "A change", "E change", "A,B,C,D,E use", "E: with the read of step 5 after the change of step "} {
		if !strings.Contains(text, mark) {
			t.Errorf("no %q in\n%s", mark, text)
		}
	}
	if n := strings.Count(text, "\n"); n > timelineLines+1 {
		t.Errorf("%d lines:\n%s", n, text)
	}
}

// TestRecordSaysWhatDecides: as data, in the record and in JSON, and what is no order of
// steps of the run is refused.
func TestRecordSaysWhatDecides(t *testing.T) {
	r := raced()
	rec := RecordOf(r)
	v := &rec.Violations[0]
	if !slices.Equal(v.Races, r.Races[1:3]) {
		t.Errorf("races %+v", v.Races)
	}
	marks := map[int][]model.RaceMark{}
	for _, turn := range v.Turns {
		if turn.Who != "" && len(turn.Races) > 0 {
			marks[turn.Step] = turn.Races
		}
	}
	if len(marks) != 4 || !slices.Equal(marks[82], []model.RaceMark{{Race: 0, Part: model.RaceChange}, {Race: 1, Part: model.RaceChange}}) {
		t.Errorf("marks %+v", marks)
	}
	line, err := JSON(r)
	if err != nil {
		t.Fatal(err)
	}
	var out run
	if err := json.Unmarshal(line, &out); err != nil || !slices.Equal(out.Violations[0].Races, r.Races[1:3]) {
		t.Errorf("%v: %+v", err, out.Violations[0].Races)
	}
	for _, wrong := range [][3]int{{0, 1, 2}, {2, 1, 3}, {1, 2, 2}, {1, 2, 94}} {
		v.Races[0].Read, v.Races[0].Change, v.Races[0].Use = wrong[0], wrong[1], wrong[2]
		if err := rec.check(); err == nil || !strings.HasPrefix(err.Error(), "violations[0].races[0]: want at most 26") {
			t.Errorf("%v: %v", wrong, err)
		}
	}
}
