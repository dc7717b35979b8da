package bench

import "slices"

// Median of one or more values, of an even number the upper of the two in the middle.
func Median(xs []float64) float64 { return Quantile(xs, 0.5) }

// Quantile is the value nearest to the place q of the sorted values, 0 the lowest, 1
// the highest; half way between two it is the upper.
func Quantile(xs []float64, q float64) float64 {
	xs = slices.Sorted(slices.Values(xs))
	return xs[int(q*float64(len(xs)-1)+0.5)]
}
