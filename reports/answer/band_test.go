package answer_test

import (
	"math"
	"testing"

	"ipamsim/reports/answer"
)

// Clopper and Pearson's bands, against values that others published: R's
// binom.test(3, 10) and the closed form where nothing or everything happened,
// 1 − 0.025^(1/n).
func TestChance(t *testing.T) {
	for _, tt := range []struct {
		k, n      int
		low, high float64
	}{
		{0, 100, 0, 0.03621669}, {100, 100, 0.96378331, 1}, {3, 10, 0.06673951, 0.65245285}, {1, 1, 0.025, 1}, {0, 1, 0, 0.975},
		{0, 10, 0, 0.30849710}, {0, 0, 0, 1}, {5, 100, 0.01643188, 0.11283491},
	} {
		low, high := answer.Chance(tt.k, tt.n)
		if math.Abs(low-tt.low) > 1e-7 || math.Abs(high-tt.high) > 1e-7 {
			t.Errorf("%d of %d: %.8f to %.8f, want %.8f to %.8f", tt.k, tt.n, low, high, tt.low, tt.high)
		}
	}
}

// A band holds the true value in at least 95 of 100 experiments: here of every
// outcome there is, weighed by how likely it is.
func TestChanceCovers(t *testing.T) {
	for _, n := range []int{5, 20, 100} {
		for _, p := range []float64{0.01, 0.1, 0.5, 0.93} {
			covered := 0.0
			for k := range n + 1 {
				lg := func(x int) float64 { v, _ := math.Lgamma(float64(x + 1)); return v }
				weight := math.Exp(lg(n) - lg(k) - lg(n-k) + float64(k)*math.Log(p) + float64(n-k)*math.Log(1-p))
				if low, high := answer.Chance(k, n); low <= p && p <= high {
					covered += weight
				}
			}
			if covered < 0.95 {
				t.Errorf("n=%d, p=%g: the band holds p in %.3f of all experiments, want 0.95", n, p, covered)
			}
		}
	}
}

// Student's own example: the extra sleep of ten patients, 1.58 hours, with 0.70 to
// 2.46 (R: t.test of the sleep data's differences).
func TestMean(t *testing.T) {
	mean, low, high := answer.Mean([]float64{1.2, 2.4, 1.3, 1.3, 0.0, 1.0, 1.8, 0.8, 4.6, 1.4})
	if math.Abs(mean-1.58) > 1e-9 || math.Abs(low-0.7001142) > 1e-6 || math.Abs(high-2.4598858) > 1e-6 {
		t.Errorf("%f, %f to %f", mean, low, high)
	}
	if mean, low, high := answer.Mean([]float64{0.1, 0.1, 0.1}); mean != 0.1 || low != 0.1 || high != 0.1 {
		t.Errorf("three equal ones: %g, %g to %g", mean, low, high)
	}
	if mean, low, _ := answer.Mean([]float64{7}); mean != 7 || !math.IsNaN(low) {
		t.Errorf("one: %g from %g, want no band", mean, low)
	}
	if mean, _, _ := answer.Mean(nil); !math.IsNaN(mean) {
		t.Errorf("none: %g", mean)
	}
}

// A quantile is a value that occurred.
func TestQuantile(t *testing.T) {
	inf := math.Inf(1)
	for _, tt := range []struct {
		values  []float64
		q, want float64
	}{
		{[]float64{1, 2, 3, 4}, 0.25, 1}, {[]float64{1, 2, 3, 4}, 0.5, 2}, {[]float64{1, 2, 3, 4}, 0.75, 3}, {[]float64{5}, 0.5, 5},
		{[]float64{1, 2, inf, inf, inf}, 0.5, inf}, {[]float64{1, 2, 3, inf}, 0.75, 3}, {[]float64{1, 2, 3}, 0, 1}, {[]float64{1, 2, 3}, 1, 3},
	} {
		if got := answer.Quantile(tt.values, tt.q); got != tt.want {
			t.Errorf("%g of %v is %g, want %g", tt.q, tt.values, got, tt.want)
		}
	}
}
