package answer

import (
	"math"
)

// Verdict states whether a row meets a bound. It judges the band, not the value: a row meets
// a bound if its whole band does, and breaks it if none of the band does.
type Verdict struct {
	Bound
	Outcome Outcome `json:"outcome"`
	// Needs estimates how many trials would decide, if further trials are like those so
	// far; 0 if more than trialsMax.
	Needs int `json:"needs,omitempty"`
}

// Outcome of a verdict.
type Outcome string

// The outcomes. TooFew: more trials are needed. NotKnown: the engine does not measure it, or
// no trial ran.
const (
	Meets    Outcome = "meets"
	Breaks   Outcome = "breaks"
	TooFew   Outcome = "too-few"
	NotKnown Outcome = "not-known"
)

const (
	// trialsMin is the minimum for a verdict about a mean: Student's t assumes normal means,
	// and a few equal trials have a band of width 0.
	trialsMin = 10
	// trialsMax bounds Needs: no plan runs more.
	trialsMax = 1_000_000
)

// judge returns the verdict about a row for a bound.
func judge(b Bound, figures map[string]Figure) Verdict {
	v := Verdict{Bound: b, Outcome: NotKnown}
	f, ok := figures[b.Measure]
	if !ok {
		return v
	}
	chance := false
	for _, m := range Measures() {
		chance = chance || m.Name == b.Measure && m.Over == OverChance
	}
	value, low, high := float64(f.Value), float64(f.Low), float64(f.High)
	enough := chance || f.Trials >= trialsMin
	switch {
	case enough && high <= b.Most:
		v.Outcome = Meets
	// No measure is below 0: one trial above 0 proves that the mean is.
	case enough && low > b.Most, b.Most == 0 && value > 0:
		v.Outcome = Breaks
	case chance:
		v.Outcome, v.Needs = TooFew, needsChance(value, f.Trials, b.Most)
	default:
		v.Outcome, v.Needs = TooFew, needsMean(&f, b.Most)
	}
	return v
}

// needsChance estimates how many trials separate a chance of about p from most.
func needsChance(p float64, n int, most float64) int {
	return first(n, func(n int) bool {
		low, high := Chance(int(math.Round(p*float64(n))), n)
		return high <= most || low > most
	})
}

// needsMean estimates how many trials separate a mean from most. The band narrows with the
// square root of their number.
func needsMean(f *Figure, most float64) int {
	half := float64(f.High - f.Value)
	if f.Trials < 2 || math.IsNaN(half) {
		return trialsMin
	}
	sd := half / student(f.Trials) * math.Sqrt(float64(f.Trials))
	return first(max(f.Trials, trialsMin-1), func(n int) bool {
		return student(n)*sd/math.Sqrt(float64(n)) <= math.Abs(most-float64(f.Value)) && (float64(f.Value) != most || sd == 0)
	})
}

// first returns the smallest n above from for which enough holds; enough is monotonic.
func first(from int, enough func(int) bool) int {
	lo, hi := from, from+1
	for ; !enough(hi); hi *= 2 {
		if lo = hi; hi > trialsMax {
			return 0
		}
	}
	for hi-lo > 1 {
		if mid := (lo + hi) / 2; enough(mid) {
			hi = mid
		} else {
			lo = mid
		}
	}
	return hi
}
