package answer

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// confidence of every band: 19 of 20 such bands contain the true value.
const confidence = 0.95

// Chance returns the band of a probability from k of n trials, by Clopper and Pearson, which
// is never too narrow. It is 0 to 1 if n is 0.
//
// Source: C. Clopper, E. Pearson, "The use of confidence or fiducial limits
// illustrated in the case of the binomial", Biometrika 26 (1934).
func Chance(k, n int) (low, high float64) {
	const tail = (1 - confidence) / 2
	low, high = 0, 1
	if k > 0 {
		low = distuv.Beta{Alpha: float64(k), Beta: float64(n - k + 1)}.Quantile(tail)
	}
	if k < n {
		high = distuv.Beta{Alpha: float64(k + 1), Beta: float64(n - k)}.Quantile(1 - tail)
	}
	return low, high
}

// Mean returns the mean of values and its band by Student's t. The band is NaN for a
// single value, and has width 0 if all values are equal.
func Mean(values []float64) (mean, low, high float64) {
	if len(values) == 0 {
		return math.NaN(), math.NaN(), math.NaN()
	}
	mean, sd := spread(values)
	if len(values) == 1 {
		return mean, math.NaN(), math.NaN()
	}
	half := student(len(values)) * sd / math.Sqrt(float64(len(values)))
	return mean, mean - half, mean + half
}

// spread returns the mean and the standard deviation of a sample.
func spread(values []float64) (mean, sd float64) {
	if lo, hi := slices.Min(values), slices.Max(values); lo == hi {
		return lo, 0 // exactly; a sum may round
	}
	for _, v := range values {
		mean += v
	}
	mean /= float64(len(values))
	for _, v := range values {
		sd += (v - mean) * (v - mean)
	}
	return mean, math.Sqrt(sd / float64(len(values)-1))
}

func student(n int) float64 {
	return distuv.StudentsT{Sigma: 1, Nu: float64(n - 1)}.Quantile((1 + confidence) / 2)
}

// Quantile returns the smallest of sorted values that at least a share q of them does not
// exceed. It never interpolates.
func Quantile(sorted []float64, q float64) float64 {
	if len(sorted) == 0 {
		return math.NaN()
	}
	i := int(math.Ceil(q*float64(len(sorted))-1e-9)) - 1
	return sorted[max(0, min(i, len(sorted)-1))]
}
