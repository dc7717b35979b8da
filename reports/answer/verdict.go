package answer

import (
	"math"
)

// Verdict is whether a row keeps to a bound. What is judged is the band, not the
// value: a row meets a bound if all of its band does, and breaks it if none does.
type Verdict struct {
	Bound
	Outcome Outcome `json:"outcome"`
	// Needs is about how many lives would tell, if they go on like those so far; 0 if
	// no number of them that anybody would run does.
	Needs int `json:"needs,omitempty"`
}

// Outcome of a verdict.
type Outcome string

// The outcomes. TooFew lives cannot tell, and NotKnown is what the engine does not
// measure or no life was lived for.
const (
	Meets    Outcome = "meets"
	Breaks   Outcome = "breaks"
	TooFew   Outcome = "too-few"
	NotKnown Outcome = "not-known"
)

const (
	// livesMin is how many lives a mean is believed of: Student's t presumes that means
	// are normal, and lives that were all alike say little if they are few.
	livesMin = 10
	// livesMax is more than anybody runs.
	livesMax = 1_000_000
)

// judge a row by a bound.
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
	enough := chance || f.Trials >= livesMin
	switch {
	case enough && high <= b.Most:
		v.Outcome = Meets
	// No measure is below 0: one life that has some proves that the mean is above.
	case enough && low > b.Most, b.Most == 0 && value > 0:
		v.Outcome = Breaks
	case chance:
		v.Outcome, v.Needs = TooFew, needsChance(value, f.Trials, b.Most)
	default:
		v.Outcome, v.Needs = TooFew, needsMean(&f, b.Most)
	}
	return v
}

// needsChance is how many lives tell a chance that looks like p from most.
func needsChance(p float64, n int, most float64) int {
	return first(n, func(n int) bool {
		low, high := Chance(int(math.Round(p*float64(n))), n)
		return high <= most || low > most
	})
}

// needsMean is how many lives tell a mean from most whose band narrows as the
// square root of their number.
func needsMean(f *Figure, most float64) int {
	half := float64(f.High - f.Value)
	if f.Trials < 2 || math.IsNaN(half) {
		return livesMin
	}
	sd := half / student(f.Trials) * math.Sqrt(float64(f.Trials))
	return first(max(f.Trials, livesMin-1), func(n int) bool {
		return student(n)*sd/math.Sqrt(float64(n)) <= math.Abs(most-float64(f.Value)) && (float64(f.Value) != most || sd == 0)
	})
}

// first n above from for which enough holds, as it does for all after it.
func first(from int, enough func(int) bool) int {
	lo, hi := from, from+1
	for ; !enough(hi); hi *= 2 {
		if lo = hi; hi > livesMax {
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
