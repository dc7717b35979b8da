package calibrate

import (
	"math"
	"time"

	"ipamsim/model/capacity/workload"
	"ipamsim/scenarios/calibrate/estimate"
	"ipamsim/scenarios/calibrate/observe"
)

// Lifetimes is how long pods of a kind live.
type Lifetimes struct {
	Watched, Ended int
	Taken          int           // that went with their node, or were moved away from it: they would have lived longer
	Lived          time.Duration // that all of them together were watched
	// From is the first age with enough observations: the data do not show shorter lifetimes, and none are
	// derived.
	From     time.Duration
	Marks    []Mark
	Rest     estimate.Duration // hours left to those that are behind the last mark
	Segments []estimate.Segment
	// AgesOnly: no end was observed, and lifetimes are assumed to be exponential. Rest is then their mean.
	AgesOnly bool
	Lack     Lack
}

// Mark is an age by which a share of pods has ended, with its interval.
type Mark struct {
	Share     float64
	By        time.Duration
	Low, High time.Duration // High below 0: the data do not bound it
}

// shares at which marks are made, as far as the data go.
var shares = []float64{0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98, 0.99}

const (
	// endsMin is the minimum number of ends for a distribution, and for the rest after the last mark.
	endsMin = 10
	// eventsMin is how many events a rate has to rest on: the band of four is nine times
	// as high as it is low.
	eventsMin = 5
)

// pods fits the lifetimes of pods that are recreated.
func (f *Fit) pods(h *observe.History) {
	f.Standing = lifetimesOf(h, func(p *observe.Pod) bool { return p.Owner.Remade() })
}

// owners numbers workloads: pods of one are rolled out together. A bare pod is its own.
type owners struct {
	number map[string]int32
	next   int32
}

func (o *owners) of(p *observe.Pod) int32 {
	key := p.Namespace + "/" + p.Owner.Kind + "/" + p.Owner.Name
	n, known := o.number[key]
	if !known || p.Owner.Name == "" {
		n = o.next
		o.number[key] = n
		o.next++
	}
	return n
}

// lifetimesOf fits the lifetimes of the selected pods.
func lifetimesOf(h *observe.History, some func(*observe.Pod) bool) (out Lifetimes) {
	who := &owners{number: map[string]int32{}}
	var earliest, middle, latest []estimate.Observation
	var ages []float64
	inexact, from := false, forcesOf(h)
	for i := range h.Pods {
		p := &h.Pods[i]
		if !some(p) || p.Born.IsZero() || p.Entered.IsZero() {
			continue
		}
		l := estimate.Observation{Enter: max(p.Entered.Sub(p.Born).Hours(), 0), Exit: p.Last.Sub(p.Born).Hours(), Ended: p.Ended, Of: who.of(p)}
		l.Exit = max(l.Exit, l.Enter)
		out.Watched++
		out.Lived += time.Duration((l.Exit - l.Enter) * float64(time.Hour))
		ages = append(ages, l.Exit)
		a, b := l, l
		switch {
		case !p.Ended:
		case from.took(p):
			out.Taken++
			l.Ended, a.Ended, b.Ended = false, false, false // it would have lived longer
		default:
			out.Ended++
			b.Exit = max(p.Gone.Sub(p.Born).Hours(), l.Exit)
			l.Exit = (a.Exit + b.Exit) / 2
			inexact = inexact || a.Exit < b.Exit
		}
		earliest, middle, latest = append(earliest, a), append(middle, l), append(latest, b)
	}
	switch {
	case out.Watched == 0:
		out.Lack = Lack{What: LackPods}
		return out
	case out.Ended == 0 && out.Lived == 0:
		out.agesOnly(ages)
		return out
	}
	curve := estimate.KaplanMeier(middle)
	if curve.Ended < endsMin {
		out.Lack = Lack{What: LackEnds, Have: curve.Ended, Want: endsMin}
		return out
	}
	out.From = hours(curve.From)
	first, last := curve, curve
	if inexact {
		first, last = estimate.KaplanMeier(earliest), estimate.KaplanMeier(latest)
	}
	out.marks(curve, first, last)
	return out
}

// marks of the curve in the middle; bands reach from the lowest to the highest, since an
// end may have been any time between two looks.
func (l *Lifetimes) marks(curve, earliest, latest *estimate.Curve) {
	left := float64(curve.Ended)
	var ages []float64
	for _, share := range shares {
		at := curve.Quantile(share)
		behind := left * (1 - share)
		if math.IsNaN(at) || at <= 0 || behind < endsMin || len(ages) > 0 && at <= ages[len(ages)-1] {
			continue
		}
		low := earliest.Band(share)
		high := low.High
		if latest != earliest {
			high = latest.Band(share).High
		}
		m := Mark{Share: share, By: hours(at), Low: hours(low.Low), High: -1}
		if !math.IsInf(high, 1) {
			m.High = hours(high)
		}
		if m.Low > m.By { // all of the earlier ones end before enough are watched
			m.Low = 0
		}
		l.Marks, ages = append(l.Marks, m), append(ages, at)
	}
	// What is left behind the last mark rests on those that end there, or on the parts
	// before it, if too few do.
	for {
		rest := curve.Segments(ages)
		last := rest[len(ages)]
		if last.Ends >= endsMin || len(ages) == 0 {
			l.Segments = curve.Segments(fine(curve, ages))
			l.Rest = estimate.Duration{Total: last.Lived, Count: int(last.Ends), CV2: last.Design}
			return
		}
		ages, l.Marks = ages[:len(ages)-1], l.Marks[:len(l.Marks)-1]
	}
}

// fine returns the ages between which a backtest assumes a constant hazard, up to the last mark: a
// fiftieth of the pods ends between two of them. Where hazards fall, most pods are observed at the
// beginning of an interval, so a long one underestimates lifetimes.
func fine(curve *estimate.Curve, ages []float64) (out []float64) {
	for share := 0.02; len(ages) > 0 && share < 0.985; share += 0.02 {
		at := curve.Quantile(share)
		if at > 0 && at < ages[len(ages)-1] && (len(out) == 0 || at > out[len(out)-1]) {
			out = append(out, at)
		}
	}
	if len(ages) > 0 {
		out = append(out, ages[len(ages)-1])
	}
	return out
}

// agesOnly estimates from one scan: in a steady cluster with exponential lifetimes, ages are
// distributed as lifetimes. That they are exponential is tested; that the cluster is steady is
// assumed, and reported.
func (l *Lifetimes) agesOnly(ages []float64) {
	if !estimate.Exponential(ages) {
		l.Lack = Lack{What: LackScans, Have: 1, Want: 2}
		return
	}
	l.AgesOnly = true
	l.Rest = estimate.DurationOf(ages, nil)
	l.Rest.CV2 = 1
	l.Segments = []estimate.Segment{{To: math.Inf(1), Ends: float64(len(ages)), Lived: l.Rest.Total, Design: 1}}
}

func hours(x float64) time.Duration {
	return time.Duration(min(x*float64(time.Hour), math.MaxInt64/2))
}

// Known reports whether there is a distribution.
func (l *Lifetimes) Known() bool { return l.Lack == (Lack{}) }

// Distribution as a plan has it.
func (l *Lifetimes) Distribution() (out workload.Lifetimes) {
	for _, m := range l.Marks {
		out.Marks = append(out.Marks, workload.Mark{Share: m.Share, By: rounded(m.By)})
	}
	out.Rest = rounded(hours(l.Rest.Mean()))
	for i := 1; i < len(out.Marks); { // that rounding has put at the same age
		if out.Marks[i].By <= out.Marks[i-1].By {
			out.Marks = append(out.Marks[:i], out.Marks[i+1:]...)
		} else {
			i++
		}
	}
	return out
}

// rounded is a time as people write it: three digits.
func rounded(d time.Duration) time.Duration {
	unit := time.Second
	for _, u := range []time.Duration{time.Minute, 10 * time.Minute, time.Hour} {
		if d >= 500*u {
			unit = u
		}
	}
	return max(d.Round(unit), time.Second)
}
