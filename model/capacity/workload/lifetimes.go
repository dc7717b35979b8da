package workload

import (
	"math"
	"math/rand/v2"
	"slices"
	"time"
)

// Lifetimes is the distribution of how long pods run: each mark gives an age and the share of
// pods that have ended by then. Between two marks, before the first and after the last, a pod
// is as likely to end in one hour as in the next. With Rest alone, lifetimes are exponential.
type Lifetimes struct {
	Marks []Mark // both fields ascending
	// Rest is the mean remaining lifetime of pods beyond the last mark; 0: their rate of ends is
	// that between the last two marks.
	Rest time.Duration
}

// Mark is a point of a distribution: this share has ended by this age.
type Mark struct {
	Share float64 // above 0, below 1
	By    time.Duration
}

// Given reports whether there is a distribution at all; without one pods stay.
func (l *Lifetimes) Given() bool { return len(l.Marks) > 0 || l.Rest > 0 }

// Mean of the distribution.
func (l *Lifetimes) Mean() time.Duration {
	h := hazardOf(l)
	return time.Duration(min(h.whole(), math.MaxInt64/2))
}

// By is the age by which a share has ended, 0 to below 1.
func (l *Lifetimes) By(share float64) time.Duration {
	h := hazardOf(l)
	return time.Duration(min(h.age(-math.Log1p(-share)), math.MaxInt64/2))
}

// lifetimes are what the load says of those that are made again.
func (l *Load) lifetimes() Lifetimes {
	if l.Lifetimes.Given() {
		return l.Lifetimes
	}
	return Lifetimes{Rest: l.Lifetime}
}

// Lived returns the mean lifetime of a pod that is replaced when it ends, 0 if pods do not
// end.
func (l *Load) Lived() time.Duration {
	x := l.lifetimes()
	if !x.Given() {
		return 0
	}
	return x.Mean()
}

// hazard is a distribution of lifetimes in the form that draws use: segments of constant
// hazard, the last one open.
type hazard struct {
	from, cum, rate []float64 // age in nanoseconds, cumulated hazard there, hazard from there on
}

func hazardOf(l *Lifetimes) hazard {
	h := hazard{from: []float64{0}, cum: []float64{0}}
	for _, m := range l.Marks {
		last := len(h.from) - 1
		cum := -math.Log1p(-m.Share)
		h.rate = append(h.rate, (cum-h.cum[last])/(float64(m.By)-h.from[last]))
		h.from, h.cum = append(h.from, float64(m.By)), append(h.cum, cum)
	}
	tail := 0.0
	switch {
	case l.Rest > 0:
		tail = 1 / float64(l.Rest)
	case len(h.rate) > 0:
		tail = h.rate[len(h.rate)-1]
	}
	h.rate = append(h.rate, tail)
	return h
}

// exponential reports whether lifetimes have no memory.
func (h *hazard) exponential() bool { return len(h.rate) == 1 }

// at is the cumulated hazard at an age.
func (h *hazard) at(age float64) float64 {
	i, found := slices.BinarySearch(h.from, age)
	if !found {
		i--
	}
	return h.cum[i] + (age-h.from[i])*h.rate[i]
}

// age is where the cumulated hazard is reached.
func (h *hazard) age(cum float64) float64 {
	i, found := slices.BinarySearch(h.cum, cum)
	if !found {
		i--
	}
	return h.from[i] + (cum-h.cum[i])/h.rate[i]
}

// left draws the remaining lifetime of a pod of the given age.
func (h *hazard) left(r *rand.Rand, age time.Duration) time.Duration {
	e := r.ExpFloat64()
	if h.exponential() {
		return nanoseconds(e / h.rate[0])
	}
	x := float64(max(age, 0))
	return max(nanoseconds(h.age(h.at(x)+e)-x), 0)
}

// nanoseconds converts a lifetime, capped at seventy years.
func nanoseconds(x float64) time.Duration { return time.Duration(min(x, math.MaxInt64/4)) }

// among draws the age of a pod among the running pods in a stationary state: old pods are observed
// more often than they are started.
func (h *hazard) among(r *rand.Rand) time.Duration {
	if h.exponential() {
		return 0 // as good as any
	}
	u := r.Float64() * h.whole()
	for i := range h.rate {
		if part := h.part(i); u < part || i == len(h.rate)-1 {
			// Within a segment ages thin out as pods end.
			keep := math.Exp(-h.cum[i])
			return nanoseconds(h.from[i] - math.Log1p(-min(u*h.rate[i]/keep, 1-1e-15))/h.rate[i])
		} else {
			u -= part
		}
	}
	return 0
}

// whole returns the mean lifetime; part returns what one segment contributes to it.
func (h *hazard) whole() (sum float64) {
	for i := range h.rate {
		sum += h.part(i)
	}
	return sum
}

func (h *hazard) part(i int) float64 {
	end := 0.0
	if i+1 < len(h.cum) {
		end = math.Exp(-h.cum[i+1])
	}
	return (math.Exp(-h.cum[i]) - end) / h.rate[i]
}
