// Package estimate has the statistics of a calibration: rates, lifetimes and trends, each with a 95 %
// confidence interval. Pure functions; times are numbers in the unit of the caller.
package estimate

import (
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// Confidence of every band.
const Confidence = 0.95

const tail = (1 - Confidence) / 2

// Band is where the true value lies. High is +Inf where nothing bounds it.
type Band struct{ Low, High float64 }

// Holds reports whether a value lies in the band.
func (b Band) Holds(x float64) bool { return x >= b.Low && x <= b.High }

// Rate is how often something happens.
type Rate struct {
	Count    float64 // events
	Exposure float64 // the time in which they could have come
	// Phi is how many times more the counts of equal times vary than those of a Poisson
	// process do; at least 1, which it is.
	Phi float64
}

// Per is events per unit of exposure.
func (r Rate) Per() float64 {
	if r.Exposure <= 0 {
		return 0
	}
	return r.Count / r.Exposure
}

// Band returns the interval of the rate: Garwood's exact one for a Poisson process. Clustered events,
// measured by Phi, count as many times as there are clusters: the interval of a quasi-Poisson
// process, as wide as that of a negative binomial one.
//
// Source: F. Garwood, "Fiducial limits for the Poisson distribution", Biometrika 28
// (1936).
func (r Rate) Band() Band {
	if r.Exposure <= 0 {
		return Band{0, math.Inf(1)}
	}
	phi := max(r.Phi, 1)
	k, e := r.Count/phi, r.Exposure/phi
	b := Band{0, distuv.Gamma{Alpha: k + 1, Beta: 1}.Quantile(1-tail) / e}
	if k > 0 {
		b.Low = distuv.Gamma{Alpha: k, Beta: 1}.Quantile(tail) / e
	}
	return b
}

// Draw is a rate that may be the true one, by what is known: from the gamma distribution
// that Jeffreys' prior leads to.
func (r Rate) Draw(src rand.Source) float64 {
	if r.Exposure <= 0 {
		return 0
	}
	phi := max(r.Phi, 1)
	return distuv.Gamma{Alpha: max(r.Count/phi+0.5, 1e-3), Beta: r.Exposure / phi, Src: src}.Rand()
}

// doubtful is below which chance something is taken not to be chance.
const doubtful = 0.01

// Dispersion is how many times more counts vary around what is expected of each than
// those of a Poisson process; 1 unless it is clear that they do. fitted is how many
// numbers the expected ones were made of.
func Dispersion(counts, expected []float64, fitted int) float64 {
	chi, n := 0.0, 0
	for i, e := range expected {
		if e > 0 {
			chi += (counts[i] - e) * (counts[i] - e) / e
			n++
		}
	}
	df := float64(n - fitted)
	if df < 1 || (distuv.ChiSquared{K: df}).Survival(chi) > doubtful {
		return 1
	}
	return max(chi/df, 1)
}

// Even reports whether counts may be proportional to exposures, if they vary phi times
// more than those of a Poisson process do.
func Even(counts, exposure []float64, phi float64) bool {
	sum, all, chi, df := 0.0, 0.0, 0.0, -1.0
	for i := range counts {
		sum, all = sum+counts[i], all+exposure[i]
	}
	for i := range counts {
		if e := sum * exposure[i] / all; e > 0 {
			chi += (counts[i] - e) * (counts[i] - e) / e
			df++
		}
	}
	return df < 1 || (distuv.ChiSquared{K: df}).Survival(chi/max(phi, 1)) > doubtful
}

// Duration is how long something lasts on average.
type Duration struct {
	Least float64 // that each lasts; Total and CV2 are of what they last longer
	Total float64 // of all, those that are not over included
	Count int     // that are over
	CV2   float64 // square of their coefficient of variation
}

// DurationOf estimates durations from the finished ones, and from the ages of the others.
func DurationOf(over, open []float64) Duration {
	d := Duration{Count: len(over)}
	squares := 0.0
	for _, x := range over {
		d.Total += x
		squares += x * x
	}
	if n := float64(len(over)); n > 1 && d.Total > 0 {
		mean := d.Total / n
		d.CV2 = (squares/n - mean*mean) / (mean * mean) * n / (n - 1)
	}
	for _, x := range open {
		d.Total += x
	}
	return d
}

// Mean of them.
func (d Duration) Mean() float64 {
	if d.Count == 0 {
		return 0
	}
	return d.Least + d.Total/float64(d.Count)
}

// Band of the mean, as if they were exponential or vary more; those that vary less have
// a wider one than they need.
func (d Duration) Band() Band {
	b := Rate{Count: float64(d.Count), Exposure: d.Total, Phi: d.CV2}.Band()
	out := Band{d.Least + 1/b.High, math.Inf(1)}
	if b.Low > 0 {
		out.High = d.Least + 1/b.Low
	}
	return out
}

// Draw is a mean that may be the true one.
func (d Duration) Draw(src rand.Source) float64 {
	return d.Least + 1/max(Rate{Count: float64(d.Count), Exposure: d.Total, Phi: d.CV2}.Draw(src), 1e-12)
}

// Trend is by how much something changes per step, of steps that do not depend on each
// other.
type Trend struct {
	Steps    int
	Mean, SD float64 // of the changes
}

// TrendOf is made of the values between steps.
func TrendOf(values []float64) Trend {
	t := Trend{Steps: len(values) - 1}
	if t.Steps < 1 {
		return Trend{}
	}
	t.Mean = (values[t.Steps] - values[0]) / float64(t.Steps)
	for i := 1; i < len(values); i++ {
		x := values[i] - values[i-1] - t.Mean
		t.SD += x * x
	}
	t.SD = math.Sqrt(t.SD / float64(max(t.Steps-1, 1)))
	return t
}

// Band of the change per step: Student's.
func (t Trend) Band() Band {
	if t.Steps < 2 {
		return Band{math.Inf(-1), math.Inf(1)}
	}
	half := distuv.StudentsT{Sigma: 1, Nu: float64(t.Steps - 1)}.Quantile(1-tail) * t.SD / math.Sqrt(float64(t.Steps))
	return Band{t.Mean - half, t.Mean + half}
}

// Draw is the change over so many steps that may come.
func (t Trend) Draw(src rand.Source, steps float64) float64 {
	if t.Steps < 2 {
		return 0
	}
	return t.draw(src, steps, steps)
}

// DrawLine is the change over so many steps of a straight line whose mean over them varies
// as that of the steps does: the square of a walk's mean is a third of its end's, the
// square of a line's mean a quarter.
func (t Trend) DrawLine(src rand.Source, steps float64) float64 {
	if t.Steps < 2 {
		return 0
	}
	return t.draw(src, steps, steps*4/3)
}

// draw draws a change; each of the steps to come has the variance of walk single ones.
func (t Trend) draw(src rand.Source, steps, walk float64) float64 {
	s := distuv.StudentsT{Sigma: 1, Nu: float64(t.Steps - 1), Src: src}.Rand()
	return t.Mean*steps + s*t.SD*math.Sqrt(walk+steps*steps/float64(t.Steps))
}

// Exponential reports whether values may be exponential: their coefficient of variation is then 1. It
// returns false for fewer than a hundred values, and for one in ten exponential samples.
func Exponential(values []float64) bool {
	n := float64(len(values))
	if n < 100 {
		return false
	}
	d := DurationOf(values, nil)
	return math.Abs(math.Sqrt(n)*(d.CV2-1)/2) < 1.64
}

// Central is the narrowest symmetric band of draws that holds one more draw with a chance
// of Confidence: between the k-th smallest and the k-th largest of n, one more lies with
// a chance of (n+1-2k)/(n+1). It sorts draws.
func Central(draws []float64) Band {
	slices.Sort(draws)
	n := len(draws)
	k := max(int(tail*float64(n+1)), 1)
	return Band{draws[k-1], draws[n-k]}
}

// Rarity is the chance to be as far out among sorted draws as x is, on either side.
func Rarity(sorted []float64, x float64) float64 {
	n := len(sorted)
	below, _ := slices.BinarySearch(sorted, x) // smaller ones
	equal := 0
	for below+equal < n && sorted[below+equal] == x {
		equal++
	}
	least := min(below+equal, n-below) // as small or smaller; as large or larger
	return min(2*float64(least+1)/float64(n+1), 1)
}
