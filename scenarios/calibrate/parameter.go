package calibrate

import (
	"math"
	"time"

	"ipamsim/model/capacity/workload"
	"ipamsim/scenarios/calibrate/estimate"
	"ipamsim/scenarios/calibrate/observe"
	"ipamsim/scenarios/plan/values"
)

// Parameter is a setting of a plan with what it rests on.
type Parameter struct {
	Setting string
	// Value as a plan has it; nil if the data say nothing of it. With a Lack it is not to
	// be used as it is.
	Value any
	// Estimate and Band are in the measure's unit: nanoseconds of times, otherwise counts.
	// High is +Inf, and Low 0, where nothing bounds it.
	Estimate float64
	Band     estimate.Band
	Banded   bool // there is a band at all
	Rests    Basis
	Lack     Lack
}

// Basis is the data that a parameter rests on.
type Basis struct {
	What  BasisKind
	Count int           // of what is counted
	Among int           // watched, if it is more than Count
	Over  time.Duration // how long they were watched, all together
	At    time.Time     // of a count at one instant
	Phi   float64       // they vary so many times more than chance would let them
	From  time.Duration // shorter lifetimes were not observed
	Taken int           // pods that went with their node
	Least time.Duration // what is counted lasted longer
}

// BasisKind is what is counted.
type BasisKind uint8

// The kinds.
const (
	BasisListed    BasisKind = iota // Count at an instant
	BasisLifetimes                  // Count of Among pods ended
	BasisAges                       // ages of Count pods, at one instant
	BasisArrived                    // Count pods came in Over
	BasisEvents                     // Count events in Over of nodes' service
	BasisLasted                     // Count that were over
	BasisDays                       // changes of Count days
	BasisBegin                      // the end of the data, where the plan goes on
)

// Lack is the reason why a parameter has no estimate.
type Lack struct {
	What           LackKind
	Have, Want     int
	Time, WantTime time.Duration
}

// LackKind is what is lacking; the zero value is nothing.
type LackKind uint8

// The kinds.
const (
	LackNothing LackKind = iota
	LackPods             // no pods whose birth is known
	LackEnds             // Have of Want pods ended
	LackScans            // Have of Want looks
	LackTime             // Time of WantTime
	LackClose            // looks are Time apart, and have to be WantTime
	LackEvents           // Have of Want events
	LackNodes            // no listing of nodes
	LackDays             // Have of Want days
	LackShrink           // the number falls, which a plan does not support for nodes
	LackUneven           // days vary Have times more than their hours explain
)

// daysMin is how many days a trend has to rest on.
const daysMin = 7

// parameters puts together what settings come to.
func (f *Fit) parameters(h *observe.History) {
	add := func(p Parameter) { f.Parameters = append(f.Parameters, p) }
	listed := func(setting string, n int, at time.Time) {
		if n > 0 {
			add(Parameter{Setting: setting, Value: n, Estimate: float64(n), Rests: Basis{What: BasisListed, Count: n, At: at}})
		} else {
			add(Parameter{Setting: setting, Lack: Lack{What: LackScans, Have: 0, Want: 1}})
		}
	}
	listed("nodes", f.Nodes, h.Windows[observe.Nodes].To)
	if f.MaxPods > 0 {
		listed("maxPods", f.MaxPods, h.Windows[observe.Nodes].To)
	}
	add(f.trend("grow", f.NodeTrend, 0))
	if f.Standing.Watched > 0 || len(h.Scans) == 0 { // else they were looked for, and there are none
		listed("pods", f.Pods, h.Windows[observe.PodEnds].To)
		add(f.trend("growPods", f.PodTrend, -f.Pods))
		add(f.Standing.parameter("lifetime"))
	}
	f.arrivalParameters(add)
	f.troubles("drain", f.Drain, add)
	f.troubles("crash", f.Crash, add)
	f.troubles("replace", f.Loss, add)
	if f.Drained && f.Loss.Lack == (Lack{}) {
		add(Parameter{Setting: "replaceDrained", Value: true, Rests: Basis{What: BasisEvents, Count: int(f.Loss.Rate.Count), Over: hours(f.Loss.Rate.Exposure)}})
	}
}

// trend is a change over the horizon of the plan. least bounds it.
func (f *Fit) trend(setting string, t estimate.Trend, least int) Parameter {
	p := Parameter{Setting: setting, Rests: Basis{What: BasisDays, Count: t.Steps}}
	days := f.Horizon.Hours() / 24
	b := t.Band()
	p.Estimate, p.Band, p.Banded = t.Mean*days, estimate.Band{Low: b.Low * days, High: b.High * days}, t.Steps >= 2
	switch {
	case t.Steps < daysMin:
		p.Lack = Lack{What: LackDays, Have: max(t.Steps, 0), Want: daysMin}
		return p
	case p.Band.Holds(0) && t.SD > 0:
		p.Value = 0 // no change is to be seen
	default:
		p.Value = int(max(math.Round(p.Estimate), float64(least)))
	}
	if setting == "grow" && p.Value.(int) == 0 && p.Estimate < 0 && !p.Band.Holds(0) {
		p.Lack = Lack{What: LackShrink}
	}
	return p
}

// parameter returns the parameter of lifetimes.
func (l *Lifetimes) parameter(setting string) Parameter {
	p := Parameter{Setting: setting, Lack: l.Lack, Rests: Basis{What: BasisLifetimes, Count: l.Ended, Among: l.Watched, Over: l.Lived, From: l.From, Taken: l.Taken}}
	if !l.Known() {
		return p
	}
	d := l.Distribution()
	p.Estimate, p.Banded = float64(d.By(0.5)), true
	switch {
	case l.AgesOnly:
		p.Rests = Basis{What: BasisAges, Count: l.Watched}
		fallthrough
	case len(d.Marks) == 0:
		b := l.Rest.Band()
		p.Value, p.Estimate = values.SpanText(max(d.Rest, time.Minute)), float64(d.Rest)
		p.Band = estimate.Band{Low: float64(hours(b.Low)), High: float64(hours(b.High))}
	default:
		p.Value = values.LifetimesSetting(d)
		at := l.Marks[0]
		for _, m := range l.Marks { // the interval is that of the mark next to the middle
			if math.Abs(m.Share-0.5) < math.Abs(at.Share-0.5) {
				at = m
			}
		}
		p.Estimate, p.Band = float64(at.By), estimate.Band{Low: float64(at.Low), High: float64(at.High)}
		if at.High < 0 {
			p.Band.High = math.Inf(1)
		}
	}
	return p
}

func (f *Fit) arrivalParameters(add func(Parameter)) {
	a := &f.Arrivals
	rests := Basis{What: BasisArrived, Count: int(a.Rate.Count), Over: hours(a.Rate.Exposure), Phi: a.Rate.Phi}
	p := Parameter{Setting: "arrivals", Lack: a.Lack, Rests: rests}
	if a.Rate.Exposure > 0 {
		p.Estimate, p.Band, p.Banded = a.Rate.Per(), a.Rate.Band(), true
		p.Value = digits(a.Rate.Per())
	}
	if a.Rate.Count == 0 && a.Rate.Exposure > 0 {
		p.Value = nil // none came: a plan without arrivals says the same
	}
	add(p)
	if p.Value == nil || a.Lack != (Lack{}) {
		return
	}
	weights := func(setting string, w []float64) {
		if w == nil {
			return
		}
		out := make([]float64, len(w))
		for i, x := range w {
			out[i] = digits(x / mean(w))
		}
		add(Parameter{Setting: setting, Value: out, Rests: rests})
	}
	weights("arrivalsByHour", a.ByHour)
	weights("arrivalsByWeekday", a.ByWeekday)
	if a.Batch > 1 {
		add(Parameter{Setting: "arrivalsBatch", Value: digits(a.Batch), Estimate: a.Batch, Rests: rests})
	}
	add(a.Lifetimes.parameter("arrivalsLifetime"))
	if a.ByHour != nil || a.ByWeekday != nil {
		in := intoWeek(f.Window.To).Truncate(time.Minute)
		add(Parameter{Setting: "begins", Value: values.SpanText(in), Estimate: float64(in), Rests: Basis{What: BasisBegin, At: f.Window.To}})
	}
}

// intoWeek is how long it has been since Monday 00:00 UTC.
func intoWeek(t time.Time) time.Duration {
	t = t.UTC()
	midnight := time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, time.UTC)
	return time.Duration(weekday(t))*day + t.Sub(midnight)
}

// digits is a number with three of them.
func digits(x float64) float64 {
	if x == 0 {
		return 0
	}
	scale := math.Pow(10, 2-math.Floor(math.Log10(math.Abs(x))))
	return math.Round(x*scale) / scale
}

// troubles are a rate and how long it lasts.
func (f *Fit) troubles(name string, t Trouble, add func(Parameter)) {
	rate := Parameter{Setting: name + "Every", Lack: t.Lack, Rests: Basis{What: BasisEvents, Count: int(t.Rate.Count), Over: hours(t.Rate.Exposure), Phi: t.Rate.Phi}}
	if name == "crash" {
		rate.Rests.Least = workload.EvictDefault
	}
	if t.Rate.Exposure > 0 {
		b := t.Rate.Band()
		rate.Banded, rate.Estimate = true, math.Inf(1)
		rate.Band = estimate.Band{Low: float64(hours(1 / b.High)), High: math.Inf(1)}
		if b.Low > 0 {
			rate.Band.High = float64(hours(1 / b.Low))
		}
		if t.Rate.Count > 0 {
			every := settable(hours(1 / t.Rate.Per()))
			rate.Estimate, rate.Value = float64(every), values.SpanText(every)
		}
	}
	add(rate)
	if rate.Value == nil {
		return
	}
	lasts := Parameter{Setting: name + "For", Lack: t.Lack, Rests: Basis{What: BasisLasted, Count: t.For.Count}}
	switch {
	case t.For.Count < eventsMin && t.Lack == (Lack{}):
		lasts.Lack = Lack{What: LackEvents, Have: t.For.Count, Want: eventsMin}
		fallthrough
	case t.For.Count > 0:
		b := t.For.Band()
		lasts.Banded, lasts.Band = true, estimate.Band{Low: float64(hours(b.Low)), High: float64(hours(b.High))}
		if t.For.Count > 0 {
			long := settable(hours(t.For.Mean()))
			lasts.Estimate, lasts.Value = float64(long), values.SpanText(long)
		}
	}
	add(lasts)
}

// settable is a time that a setting takes: what comes once in ten years or less often
// does not come within a plan.
func settable(d time.Duration) time.Duration {
	return min(max(rounded(d), time.Minute), 3650*day)
}
