package estimate

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// Observation is one observed lifetime.
type Observation struct {
	// Enter is the age since which an end would have been observed: a pod first seen at that age belongs
	// to those that last so long (left truncation).
	Enter float64
	// Exit is the age at the end, or, if not Ended, the last age at which it was seen: it lasts longer
	// (right censoring).
	Exit  float64
	Ended bool
	// Of is the owner, numbered from 0: the lifetimes of one owner may end together.
	Of int32
}

// riskMin is the minimum number of observations at an age: fewer would decide the whole curve behind
// it.
const riskMin = 10

// Curve is the Kaplan-Meier estimate of a distribution of lifetimes, with delayed entry.
//
// Source: E. Kaplan, P. Meier, "Nonparametric estimation from incomplete observations"
// (1958); J. Klein, M. Moeschberger, "Survival analysis", 4.6.
type Curve struct {
	// From is the first age with enough observations: the shares are those of longer lifetimes.
	From     float64
	Ended    int
	observed []Observation
	steps    []step
	owners   int32 // owners are numbered from 0
	shares   []share
	groups   float64 // the effective number of owners with an end
}

// share is the contribution of one observation to the variance.
type share struct {
	before, until float64 // spread up to its entry, and up to its exit
	end           float64 // 1/risk where it ended; 0 if it did not
}

// prepare what variance adds up for each step.
func (c *Curve) prepare() {
	c.shares = make([]share, len(c.observed))
	ends := make([]float64, c.owners)
	for k := range c.observed {
		l, x := &c.observed[k], &c.shares[k]
		x.before, x.until = c.spread(l.Enter, true), c.spread(l.Exit, false)
		if at, found := slices.BinarySearchFunc(c.steps, l.Exit, func(s step, x float64) int { return cmp.Compare(s.at, x) }); l.Ended && found {
			x.end = 1 / c.steps[at].risk
			ends[l.Of]++
		}
	}
	total, squares := 0.0, 0.0
	for _, n := range ends {
		total, squares = total+n, squares+n*n
	}
	if squares > 0 {
		c.groups = total * total / squares
	}
}

// step is an age at which some end.
type step struct {
	at     float64
	ends   float64
	risk   float64 // watched at that age
	hazard float64 // cumulated up to here: -log of the share that lasts longer
	spread float64 // sum of ends/risk²: what a member of the risk set contributes
}

// KaplanMeier estimates a curve. Observations that end as they enter count at that age.
func KaplanMeier(observed []Observation) *Curve {
	c := &Curve{observed: observed}
	var enters, exits, ends []float64
	for _, l := range observed {
		c.owners = max(c.owners, l.Of+1)
		enters, exits = append(enters, l.Enter), append(exits, l.Exit)
		if l.Ended {
			ends = append(ends, l.Exit)
		}
	}
	slices.Sort(enters)
	slices.Sort(exits)
	slices.Sort(ends)
	hazard, spread, begun := 0.0, 0.0, false
	for i := 0; i < len(ends); {
		j := i
		for j < len(ends) && ends[j] == ends[i] {
			j++
		}
		in := upTo(enters, ends[i])
		out, _ := slices.BinarySearch(exits, ends[i]) // that are over before this age
		risk, d := float64(in-out), float64(j-i)
		if !begun && risk >= riskMin {
			begun = true
			if i > 0 || enters[0] > 0 {
				c.From = ends[i]
			}
			if first, _ := slices.BinarySearch(enters, math.SmallestNonzeroFloat64); first >= riskMin {
				c.From = 0 // watched from birth on
			}
		}
		if begun {
			hazard += -math.Log1p(-min(d/risk, 1-1e-9))
			spread += d / (risk * risk)
			c.steps = append(c.steps, step{ends[i], d, risk, hazard, spread})
			c.Ended += int(d)
		}
		i = j
	}
	c.prepare()
	return c
}

// upTo is how many of sorted values are not above x.
func upTo(sorted []float64, x float64) int {
	i, _ := slices.BinarySearch(sorted, math.Nextafter(x, math.Inf(1)))
	return i
}

// Quantile is the age by which a share has ended; NaN if fewer have in the data.
func (c *Curve) Quantile(share float64) float64 {
	i := c.reaches(-math.Log1p(-share))
	if i == len(c.steps) {
		return math.NaN()
	}
	return c.steps[i].at
}

// reaches is the first step at which the cumulated hazard is not below h.
func (c *Curve) reaches(h float64) int {
	i, _ := slices.BinarySearchFunc(c.steps, h-1e-12, func(s step, h float64) int { return cmp.Compare(s.hazard, h) })
	return i
}

// Band of a quantile: the ages whose own band of the share (log-log) holds it. High is
// +Inf if nothing in the data bounds it.
func (c *Curve) Band(share float64) Band {
	target := -math.Log1p(-share)
	out := Band{0, math.Inf(1)}
	low := sortSearch(len(c.steps), func(i int) bool { return c.hazardBand(i).High >= target })
	if low < len(c.steps) {
		out.Low = c.steps[low].at
	} else {
		out.Low = math.Inf(1)
	}
	if high := sortSearch(len(c.steps), func(i int) bool { return c.hazardBand(i).Low > target }); high < len(c.steps) {
		out.High = c.steps[high].at
	}
	return out
}

// sortSearch is the first of n for which f holds, of an f that stays true: almost, since
// bands need not be monotonous by the last digit.
func sortSearch(n int, f func(int) bool) int {
	low, high := 0, n
	for low < high {
		if mid := (low + high) / 2; f(mid) {
			high = mid
		} else {
			low = mid + 1
		}
	}
	return low
}

// hazardBand is the band of the cumulated hazard at a step.
func (c *Curve) hazardBand(i int) Band {
	h := c.steps[i].hazard
	if h <= 0 || c.groups < 2 {
		return Band{0, math.Inf(1)}
	}
	z := distuv.StudentsT{Sigma: 1, Nu: c.groups - 1}.Quantile(1 - tail)
	f := math.Exp(z * math.Sqrt(c.variance(i)) / h)
	return Band{h / f, h * f}
}

// variance returns the variance of the cumulated hazard at a step, for any dependence between the
// lifetimes of one owner: the sum over owners of the squared sum of their contributions.
//
// Source: Z. Ying, L. Wei, "The Kaplan-Meier estimate for dependent failure time
// observations", J. Multivariate Analysis 50 (1994).
func (c *Curve) variance(i int) (variance float64) {
	s := c.steps[i]
	sums := make([]float64, c.owners)
	for k := range c.observed {
		l, x := &c.observed[k], &c.shares[k]
		if l.Exit < c.steps[0].at || l.Enter > s.at {
			continue
		}
		sums[l.Of] += x.before - min(x.until, s.spread)
		if x.end > 0 && l.Exit <= s.at {
			sums[l.Of] += x.end
		}
	}
	for _, x := range sums {
		variance += x * x
	}
	if c.groups > 1 {
		variance *= c.groups / (c.groups - 1)
	}
	return variance
}

// spread is the sum up to an age, or to just before it.
func (c *Curve) spread(age float64, before bool) float64 {
	i, found := slices.BinarySearchFunc(c.steps, age, func(s step, x float64) int { return cmp.Compare(s.at, x) })
	if !found || before {
		i--
	}
	if i < 0 {
		return 0
	}
	return c.steps[i].spread
}

// Design returns the factor by which the variance exceeds that of independent lifetimes, at least 1.
func (c *Curve) Design() float64 {
	if len(c.steps) == 0 {
		return 1
	}
	last := sortSearch(len(c.steps), func(i int) bool { return c.steps[i].hazard >= math.Ln2 })
	last = min(last, len(c.steps)-1)
	return max(c.variance(last)/c.steps[last].spread, 1)
}

// Segment is an interval of ages with a constant hazard.
type Segment struct {
	To     float64 // the age at which it ends; +Inf for the last one
	Ends   float64
	Lived  float64 // time that all have lived in it, watched
	Design float64 // see Curve.Design
}

// Draw is a hazard of the segment that may be the true one; its mean over many draws is
// that of the data, since what Jeffreys' prior adds to each would add up over segments.
func (s Segment) Draw(src rand.Source) float64 {
	return Rate{Count: max(s.Ends-max(s.Design, 1)/2, 0), Exposure: s.Lived, Phi: s.Design}.Draw(src)
}

// Segments estimates the hazard between ages, ascending, and after the last.
func (c *Curve) Segments(ages []float64) []Segment {
	design := c.Design()
	out := make([]Segment, len(ages)+1)
	for i := range out {
		out[i] = Segment{To: math.Inf(1), Design: design}
		if i < len(ages) {
			out[i].To = ages[i]
		}
	}
	for k := range c.observed {
		l := &c.observed[k]
		from := max(l.Enter, c.From)
		for i := range out {
			if part := min(l.Exit, out[i].To) - from; part > 0 {
				out[i].Lived += part
				from += part
			}
			if l.Ended && l.Exit <= out[i].To && l.Exit >= c.From && (i == 0 || l.Exit > out[i-1].To) {
				out[i].Ends++
			}
		}
	}
	return out
}
