package plan_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"ipamsim/scenarios/calibrate"
	"ipamsim/scenarios/calibrate/observe"
)

// Where some days bring many times more pods than others, a backtest says that it cannot
// judge what depends on arrivals; where the same number comes at random, it judges.
func TestUnevenDaysAreNotJudged(t *testing.T) {
	from := time.Date(2026, 1, 5, 0, 0, 0, 0, time.UTC)
	w := observe.Window{From: from, To: from.Add(60 * 24 * time.Hour)}
	for _, tt := range []struct {
		name   string
		uneven bool
	}{{"each day alike", false}, {"busy and quiet days", true}} {
		r := rand.New(rand.NewPCG(1, 2))
		var born []time.Time
		for d := range 60 {
			n := 200
			if tt.uneven {
				n = []int{50, 350}[r.IntN(2)]
			}
			for range n {
				born = append(born, from.Add(time.Duration(d)*24*time.Hour+time.Duration(r.Int64N(int64(24*time.Hour)))))
			}
		}
		var f calibrate.Fit
		f.Arrivals.Batch = 1
		f.Arrivals.Rate.Count, f.Arrivals.Rate.Exposure = float64(len(born)), w.Length().Hours()
		f.Arrivals.Disperse(born, w)
		if got := f.LackOf(calibrate.MeasureStarted, &observe.History{}).What == calibrate.LackUneven; got != tt.uneven {
			t.Errorf("%s: not judged: %t, uneven by %.1f", tt.name, got, f.Arrivals.Uneven)
		}
	}
}
