package reports_test

import (
	"encoding/json"
	"testing"

	"ipamsim/reports"
)

// What was repeated is said in the right number, and not at all if nothing was; who
// reads JSON is always reported.
func TestRepeated(t *testing.T) {
	for _, tt := range []struct {
		r          reports.Repeated
		text, json string
	}{
		{reports.Repeated{}, "", `{"woken":0,"died":0}`},
		{reports.Repeated{Woken: 1}, "1 run repeated: woken from outside", `{"woken":1,"died":0}`},
		{reports.Repeated{Died: 1}, "1 run repeated: its process died", `{"woken":0,"died":1}`},
		{reports.Repeated{Died: 2}, "2 runs repeated: their processes died", `{"woken":0,"died":2}`},
		{reports.Repeated{Woken: 2}, "2 runs repeated: woken from outside", `{"woken":2,"died":0}`},
		{reports.Repeated{Woken: 2, Died: 1}, "3 runs repeated: 2 woken from outside, 1 whose process died", `{"woken":2,"died":1}`},
	} {
		text, err := json.Marshal(tt.r)
		if err != nil || tt.r.String() != tt.text || string(text) != tt.json {
			t.Errorf("%q and %s (%v), want %q and %s", tt.r, text, err, tt.text, tt.json)
		}
	}
	sum := reports.Repeated{Woken: 1}
	if sum.Add(reports.Repeated{Woken: 2, Died: 4}); sum != (reports.Repeated{Woken: 3, Died: 4}) || sum.Runs() != 7 {
		t.Errorf("%+v", sum)
	}
}
