package calibrate

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"ipamsim/model/capacity"
	"ipamsim/scenarios/calibrate/estimate"
	"ipamsim/scenarios/calibrate/observe"
)

// Backtest is a calibration of the first part of a history, held to the rest.
type Backtest struct {
	Fit      *Fit `json:"-"` // of the first part
	From     time.Time
	At       time.Time // where the rest begins
	To       time.Time
	Worlds   int
	Measures []Held
}

// Held is what was predicted of a measure, and what came.
type Held struct {
	Measure Measure
	Band    estimate.Band
	Came    float64
	Covered bool
	// Rarity is the chance to be as far out as what came.
	Rarity float64
	Lack   Lack // it cannot be judged
}

// Judged reports whether the measure can be judged.
func (h *Held) Judged() bool { return h.Lack == (Lack{}) }

// Judged is how many measures were.
func (b *Backtest) Judged() (n int) {
	for i := range b.Measures {
		if b.Measures[i].Judged() {
			n++
		}
	}
	return n
}

// Wrong reports whether what came is further out than chance explains: one of twenty
// bands of 95 % misses. So one of several measures has to be as rare as one of a single
// measure would have to be, divided by their number.
func (b *Backtest) Wrong() bool {
	for i := range b.Measures {
		if m := &b.Measures[i]; m.Judged() && m.Rarity < (1-estimate.Confidence)/float64(b.Judged()) {
			return true
		}
	}
	return false
}

// Worlds is the number of worlds of a backtest: enough to distinguish an interval of 95 % from one of
// 99 %.
const Worlds = 500

// eventsMax bounds the events of a backtest.
const eventsMax = 50_000_000

// Test fits the part of a history that lies before a share of its time, and holds what it
// predicts to the rest. alive, which may be nil, is called before each world and ends the
// test with its error.
func Test(h *observe.History, share float64, worlds int, alive func(done int) error) (*Backtest, error) {
	all := h.Windows[observe.PodEnds]
	if all.Length() == 0 {
		all = h.All()
	}
	at := all.From.Add(time.Duration(share * float64(all.Length())))
	if all.Length() < 4*time.Hour {
		return nil, fmt.Errorf("the data cover %s, want at least 4h", long(all.Length()))
	}
	first := h.Before(at)
	f, err := Of(first, all.To.Sub(at))
	if err != nil {
		return nil, fmt.Errorf("before %s: %w", at.UTC().Format(time.RFC3339), err)
	}
	b := &Backtest{Fit: f, From: all.From, At: at, To: all.To, Worlds: worlds}
	came := f.cameOf(h, observe.Window{From: at, To: all.To})
	draws := make([][]float64, measures)
	left := eventsMax
	for i := range worlds {
		if alive != nil {
			if err := alive(i); err != nil {
				return nil, err
			}
		}
		r := rand.New(rand.NewPCG(uint64(i)+1, 0x9e3779b97f4a7c15))
		c := f.world(first, at, all.To.Sub(at), r)
		m, events, err := f.live(c, h, at, r.Uint64(), left)
		if err != nil {
			return nil, err
		}
		left -= events
		for k, x := range m {
			draws[k] = append(draws[k], x)
		}
	}
	for k := range measures {
		held := Held{Measure: k, Came: came[k], Lack: f.LackOf(k, h)}
		if held.Judged() {
			held.Band = estimate.Central(draws[k])
			held.Rarity = estimate.Rarity(draws[k], came[k])
			held.Covered = held.Band.Holds(came[k])
		}
		b.Measures = append(b.Measures, held)
	}
	return b, nil
}

// live is what the measures come to in a world.
func (f *Fit) live(c *capacity.Cluster, h *observe.History, at time.Time, seed uint64, left int) (out [measures]float64, events int, err error) {
	t := c.Trace(seed)
	m := newMeter(h, at, c)
	for e := range t.Events() {
		if events++; events > left {
			return out, events, fmt.Errorf("more than %d million events in %d worlds: take shorter data, or fewer worlds", eventsMax/1_000_000, Worlds)
		}
		m.event(e)
	}
	out = m.result()
	out[MeasureDrains] = float64(t.Drains)
	return out, events, nil
}

// LackOf returns why a measure cannot be judged.
func (f *Fit) LackOf(m Measure, h *observe.History) Lack {
	if f.Arrivals.Uneven > unevenMax && slices.Contains(ofArrivals, m) {
		return Lack{What: LackUneven, Have: int(math.Round(f.Arrivals.Uneven))}
	}
	switch m {
	case MeasureStarted, MeasureEnded:
		if f.Pods > 0 && !f.Standing.Known() {
			return f.Standing.Lack
		}
		if f.Pods == 0 && !f.knowsArrivals() {
			return Lack{What: LackPods}
		}
	case MeasureMost, MeasureMean, MeasureEnd:
		switch {
		case f.Pods == 0 && f.Arrived == 0 && len(h.Scans) == 0:
			return Lack{What: LackScans, Want: 1}
		case f.Pods > 0 && f.PodTrend.Steps < daysMin:
			return Lack{What: LackDays, Have: max(f.PodTrend.Steps, 0), Want: daysMin}
		}
	case MeasureNodes, MeasureJoined:
		if f.NodeTrend.Steps < daysMin {
			return Lack{What: LackDays, Have: max(f.NodeTrend.Steps, 0), Want: daysMin}
		}
	case MeasureLost:
		return unmeasured(f.Loss)
	case MeasureDrains:
		return unmeasured(f.Drain)
	case MeasureCrashes:
		return unmeasured(f.Crash)
	}
	return Lack{}
}

// ofArrivals are the measures that depend on how many pods come.
var ofArrivals = []Measure{MeasureStarted, MeasureEnded, MeasureMost, MeasureMean, MeasureEnd}

// unmeasured: a rate may rest on no events, but not on no time.
func unmeasured(t Trouble) Lack {
	if t.Rate.Exposure > 0 {
		return Lack{}
	}
	if t.Lack == (Lack{}) {
		return Lack{What: LackNodes}
	}
	return t.Lack
}
