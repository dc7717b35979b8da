package reports

import (
	"encoding/json"
	"maps"
	"testing"
)

// TestMeasures: every measure has a name of its own, which the files of baselines keep.
func TestMeasures(t *testing.T) {
	names := map[string]Measure{}
	for _, f := range []Family{APICalls, UsualAPICalls, Writes, Conflicts, TimeMedian, Time95, TimeLongest} {
		for _, per := range []string{ADD, DEL, "pass of ip-reconciler", "pod-control-loop"} {
			m := Measure{Family: f, Per: per}
			names[m.String()] = m
			asked := f == APICalls || f == UsualAPICalls || f == Writes || f == Conflicts
			if m.PerCall() != (asked && (per == ADD || per == DEL)) {
				t.Errorf("%s: per call: %t", m, m.PerCall())
			}
		}
	}
	for _, f := range []Family{Addresses, Blocks, Routes} {
		for _, w := range []When{AtMost, AtTheEnd} {
			m := Measure{Family: f, When: w}
			names[m.String()] = m
		}
	}
	for _, f := range []Family{RefusedADDs, WithoutAddress} {
		names[Measure{Family: f}.String()] = Measure{Family: f}
	}
	if len(names) != 7*4+3*2+2 {
		t.Errorf("%d names: %v", len(names), names)
	}
	for _, name := range []string{"API calls per ADD", "API calls of a usual pass of ip-reconciler", "time of an ADD, 95 %", "time of a DEL, longest", "routes at the end", "ADDs refused"} {
		if _, ok := names[name]; !ok {
			t.Errorf("no measure is called %q", name)
		}
	}
}

// TestCostTravels: a cost is the same after it went from process to process.
func TestCostTravels(t *testing.T) {
	cost := Cost{{Family: APICalls, Per: "pass of a, per ADD"}: {Sum: 3, Of: 2}, {Family: Routes, When: AtMost}: {Sum: 0.125, Of: 1}, {Family: RefusedADDs}: {Of: 1}}
	text, err := json.Marshal(struct{ Cost Cost }{cost})
	if err != nil {
		t.Fatal(err)
	}
	var back struct{ Cost Cost }
	if err := json.Unmarshal(text, &back); err != nil || !maps.Equal(back.Cost, cost) {
		t.Errorf("%v: %s", err, text)
	}
}
