package calibrate

import (
	"time"

	"ipamsim/scenarios/calibrate/estimate"
	"ipamsim/scenarios/calibrate/observe"
)

// Arrivals are the pods that are not made again when they end.
type Arrivals struct {
	Rate              estimate.Rate // per hour
	ByHour, ByWeekday []float64     // arrivals an hour; nil: no difference is to be seen
	Batch             float64
	Uneven            float64 // so many times more days vary than their hours explain
	Lifetimes         Lifetimes
	Lack              Lack
}

// The minimum of data for differences between hours, and between days.
const (
	hoursMin    = 3 * day
	weekdaysMin = 14 * day
	perPartMin  = 5 // arrivals in each part, on average
)

// arrivals fits how many come, and when.
func (f *Fit) arrivals(h *observe.History) {
	a := &f.Arrivals
	a.Batch = 1
	w := h.Windows[observe.PodStarts]
	var born []time.Time
	for i := range h.Pods {
		p := &h.Pods[i]
		if !p.Owner.Remade() && p.Born.After(w.From) && !p.Born.After(w.To) {
			born = append(born, p.Born)
		}
	}
	switch {
	case w.Length() < time.Hour:
		a.Lack = Lack{What: LackTime, Time: w.Length(), WantTime: time.Hour}
	case seenFully(h, w):
	default:
		a.Lack = Lack{What: LackClose, Time: observe.Gap(h.Scans), WantTime: observe.Fine}
	}
	if a.Lack != (Lack{}) {
		return
	}
	a.Rate = estimate.Rate{Count: float64(len(born)), Exposure: w.Length().Hours()}
	a.Lifetimes = lifetimesOf(h, func(p *observe.Pod) bool { return !p.Owner.Remade() })
	if len(born) < eventsMin {
		a.Lack = Lack{What: LackEvents, Have: len(born), Want: eventsMin}
		return
	}
	a.profile(born, w)
	a.Disperse(born, w)
	if !a.Lifetimes.Known() {
		a.Lack = a.Lifetimes.Lack
	}
}

// seenFully reports whether scans are frequent enough for pods that run for minutes, or a log shows
// each.
func seenFully(h *observe.History, w observe.Window) bool {
	if gap := observe.Gap(h.Scans); gap > 0 && gap <= observe.Fine {
		return true
	}
	return len(h.Scans) == 0 || h.Windows[observe.PodStarts].Length() > 0 && h.Logged >= w.Length()*9/10
}

// profile estimates weights of hours and days, if they differ.
func (a *Arrivals) profile(born []time.Time, w observe.Window) {
	part := func(n int, of func(time.Time) int, least time.Duration, phi float64) []float64 {
		if w.Length() < least || len(born) < perPartMin*n {
			return nil
		}
		counts, exposure := make([]float64, n), make([]float64, n)
		for _, t := range born {
			counts[of(t)]++
		}
		for t := w.From; t.Before(w.To); {
			next := t.Truncate(time.Hour).Add(time.Hour)
			if next.After(w.To) {
				next = w.To
			}
			exposure[of(t)] += next.Sub(t).Hours()
			t = next
		}
		if estimate.Even(counts, exposure, phi) {
			return nil
		}
		out := make([]float64, n)
		for i := range out {
			out[i] = counts[i] / max(exposure[i], 1)
		}
		return out
	}
	hourly, daily := a.dispersion(born, w, time.Hour, 1), a.dispersion(born, w, day, 1) // busy days must not pass for busy weekdays
	a.ByHour = part(24, func(t time.Time) int { return t.UTC().Hour() }, hoursMin, hourly)
	a.ByWeekday = part(7, weekday, weekdaysMin, daily)
}

// weekday from Monday on.
func weekday(t time.Time) int { return (int(t.UTC().Weekday()) + 6) % 7 }

// expected arrivals from one instant to another of the same hour.
func (a *Arrivals) expected(t time.Time, long time.Duration) float64 {
	x := a.Rate.Per() * long.Hours()
	if a.ByHour != nil {
		x *= a.ByHour[t.UTC().Hour()] / mean(a.ByHour)
	}
	if a.ByWeekday != nil {
		x *= a.ByWeekday[weekday(t)] / mean(a.ByWeekday)
	}
	return x
}

func mean(all []float64) (m float64) {
	for _, x := range all {
		m += x / float64(len(all))
	}
	return m
}

// Disperse estimates how many arrive together: the excess variance of hours. A plan does not model
// the excess variance of days, which only widens the interval.
func (a *Arrivals) Disperse(born []time.Time, w observe.Window) {
	fitted := 1 + max(len(a.ByHour)-1, 0) + max(len(a.ByWeekday)-1, 0)
	hourly := a.dispersion(born, w, time.Hour, fitted)
	a.Batch = (hourly + 1) / 2
	daily := a.dispersion(born, w, day, 1+max(len(a.ByWeekday)-1, 0))
	a.Rate.Phi, a.Uneven = max(hourly, daily), daily/max(1, hourly)
}

// unevenMax: a plan draws every day alike. Where days vary so many times more than what
// comes in their hours explains, a band of what a plan comes to is too narrow, and a
// backtest by it would blame the load.
const unevenMax = 2

// dispersion of how many come in each step of time.
func (a *Arrivals) dispersion(born []time.Time, w observe.Window, step time.Duration, fitted int) float64 {
	n := int(w.Length() / step)
	if n < fitted+8 {
		return 1
	}
	counts, expected := make([]float64, n), make([]float64, n)
	for _, t := range born {
		if i := int(t.Sub(w.From) / step); i < n {
			counts[i]++
		}
	}
	for i := range expected {
		for t, end := w.From.Add(time.Duration(i)*step), w.From.Add(time.Duration(i+1)*step); t.Before(end); {
			next := t.Truncate(time.Hour).Add(time.Hour)
			if next.After(end) {
				next = end
			}
			expected[i] += a.expected(t, next.Sub(t))
			t = next
		}
	}
	return estimate.Dispersion(counts, expected, fitted)
}
