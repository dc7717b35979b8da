package plan_test

import (
	"flag"
	"maps"
	"math"
	"slices"
	"testing"

	"ipamsim/scenarios/calibrate"
	"ipamsim/sim/longtest"
)

var full = flag.Bool("full", false, "TestConformance: a year of each world, and backtests of a year: minutes")

const worlds = 200

// tally counts how often bands held the truth.
type tally struct{ held, of map[string]int }

func (t *tally) add(name string, held bool) {
	if t.of == nil {
		t.held, t.of = map[string]int{}, map[string]int{}
	}
	t.of[name]++
	if held {
		t.held[name]++
	}
}

// check that an interval of 95 % holds the truth in 90 to 99 % of the worlds. least is the minimum
// number of worlds with an estimate of a parameter.
func (t *tally) check(tt *testing.T, least int) {
	tt.Helper()
	for _, name := range slices.Sorted(maps.Keys(t.of)) {
		share := float64(t.held[name]) / float64(t.of[name])
		tt.Logf("%-18s %5.1f %% of %d worlds", name, 100*share, t.of[name])
		if t.of[name] < least || share < 0.90 || share > 0.99 {
			tt.Errorf("%s: the band held the truth in %d of %d worlds, want 90 to 99 %% of at least %d", name, t.held[name], t.of[name], least)
		}
	}
}

// The band of every parameter holds the truth of 90 to 99 % of 200 generated worlds: four
// months each, with -full a year.
func TestConformanceCoverage(t *testing.T) {
	longtest.Skip(t)
	tr := year
	if !*full {
		tr.days, tr.slots = 120, 25
	}
	var all tally
	for seed := range uint64(worlds) {
		f, err := calibrate.Of(tr.world(seed).history(), 0)
		if err != nil {
			t.Fatal(err)
		}
		known := map[string]float64{
			"arrivals": tr.jobsPerHour, "growPods": tr.podsPerDay * 30,
			"drainEvery": tr.drainEvery, "drainFor": tr.drainFor,
			// Of exponential outages, those that evict are so many, and last so long.
			"crashEvery": tr.crashEvery * math.Exp(evict/tr.crashFor), "crashFor": tr.crashFor + evict,
			"replaceEvery": tr.replaceEvery, "replaceFor": tr.replaceIn,
		}
		for _, p := range f.Parameters {
			want, ok := known[p.Setting]
			if p.Setting != "arrivals" && p.Setting != "growPods" {
				want *= 3.6e12
			}
			if ok && p.Banded && p.Lack == (calibrate.Lack{}) {
				all.add(p.Setting, p.Band.Holds(want))
			}
		}
		for _, m := range f.Standing.Marks {
			by := lifetimeBy(m.Share)
			if name := map[float64]string{0.1: "lifetime p10", 0.3: "lifetime p30", 0.5: "lifetime p50", 0.8: "lifetime p80", 0.95: "lifetime p95"}[m.Share]; name != "" {
				all.add(name, m.Low.Hours() <= by && by <= m.High.Hours())
			}
		}
		for _, m := range f.Arrivals.Lifetimes.Marks {
			by := -math.Log1p(-m.Share) * tr.jobHours
			if m.Share == 0.5 {
				all.add("arrivals p50", m.Low.Hours() <= by && by <= m.High.Hours())
			}
		}
	}
	if len(all.of) != 14 {
		t.Errorf("%d parameters have an estimate, want 14", len(all.of))
	}
	all.check(t, worlds/2)
}

// What a backtest predicts covers what comes in 90 to 99 % of the worlds, measure by
// measure; measures that are whole numbers near zero more often, for no band is between
// two of them.
func TestConformanceBacktest(t *testing.T) {
	longtest.Skip(t)
	tr, draws, worlds := year, 200, worlds
	if !*full {
		tr.days, tr.slots, draws, worlds = 90, 25, 100, 100
	}
	var all tally
	wrong := 0
	for seed := range uint64(worlds) {
		b, err := calibrate.Test(tr.world(seed+5000).history(), 0.7, draws, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range b.Measures {
			if !m.Judged() {
				t.Fatalf("%s was not judged: %s", m.Measure, m.Lack.Text())
			}
			all.add(m.Measure.String(), m.Covered)
		}
		if b.Wrong() {
			wrong++
		}
	}
	for _, name := range slices.Sorted(maps.Keys(all.of)) {
		share := float64(all.held[name]) / float64(worlds)
		t.Logf("%-18s %5.1f %%", name, 100*share)
		if share < 0.90 {
			t.Errorf("%s: covered in %.1f %% of the worlds", name, 100*share)
		}
	}
	t.Logf("%d of %d backtests are called wrong", wrong, worlds)
	if wrong > worlds/10 {
		t.Errorf("%d of %d backtests of worlds that stay as they are are called wrong", wrong, worlds)
	}
}

// A world that changes after what was fitted is called wrong.
func TestBacktestOfAnotherWorld(t *testing.T) {
	tr := year
	tr.days, tr.slots = 90, 25
	w := tr.world(1)
	busy := tr
	busy.jobsPerHour, busy.drainEvery = 6, 24*5
	b := busy.world(2)
	cut := 63.0 * 24
	w.pods = slices.DeleteFunc(w.pods, func(p calibratedPod) bool { return p.job && p.born > cut })
	for _, p := range b.pods {
		if p.job && p.born > cut {
			w.pods = append(w.pods, p)
		}
	}
	out, err := calibrate.Test(w.history(), 0.7, calibrate.Worlds, nil)
	if err != nil {
		t.Fatal(err)
	}
	if m := out.Measures[calibrate.MeasureStarted]; !out.Wrong() || m.Covered {
		t.Errorf("four times as many jobs come, and the band covers it: %+v", m)
	}
}

// Of what never came a backtest knows that it is rare, and no more: a cluster that no node
// was ever lost of goes on.
func TestBacktestOfQuietNodes(t *testing.T) {
	tr := year
	tr.days, tr.slots, tr.replaceEvery, tr.crashEvery = 30, 12, 1e9, 1e9
	b, err := calibrate.Test(tr.world(1).history(), 0.7, calibrate.Worlds, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range []calibrate.Measure{calibrate.MeasureLost, calibrate.MeasureCrashes} {
		if h := b.Measures[m]; !h.Judged() || !h.Covered || h.Band.High > 4 {
			t.Errorf("%s: %+v", m, h)
		}
	}
}
