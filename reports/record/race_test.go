package record

import (
	"slices"
	"strings"
	"testing"

	"ipamsim/model"
	"ipamsim/reports/storytest"
)

// TestRecordSaysWhatDecides: as data, and what is no order of
// steps of the run is refused.
func TestRecordSaysWhatDecides(t *testing.T) {
	r := storytest.Raced()
	rec := Of(r)
	v := &rec.Violations[0]
	if !slices.Equal(v.Races, r.Races[1:3]) {
		t.Errorf("races %+v", v.Races)
	}
	marks := map[int][]model.RaceMark{}
	for _, turn := range v.Turns {
		if turn.Actor != "" && len(turn.Races) > 0 {
			marks[turn.Step] = turn.Races
		}
	}
	if len(marks) != 4 || !slices.Equal(marks[82], []model.RaceMark{{Race: 0, Part: model.RaceChange}, {Race: 1, Part: model.RaceChange}}) {
		t.Errorf("marks %+v", marks)
	}
	for _, wrong := range [][3]int{{0, 1, 2}, {2, 1, 3}, {1, 2, 2}, {1, 2, 94}} {
		v.Races[0].Read, v.Races[0].Change, v.Races[0].Use = wrong[0], wrong[1], wrong[2]
		if err := rec.check(); err == nil || !strings.HasPrefix(err.Error(), "violations[0].races[0]: want at most 26") {
			t.Errorf("%v: %v", wrong, err)
		}
	}
}
