package bench_test

import (
	"testing"

	"ipamsim/reports/bench"
)

func TestMedian(t *testing.T) {
	for _, c := range []struct {
		of               []float64
		median, q1, high float64
	}{
		{[]float64{7}, 7, 7, 7},
		{[]float64{2, 1}, 2, 1, 2},
		{[]float64{3, 1, 2}, 2, 2, 3},
		{[]float64{4, 1, 3, 2}, 3, 2, 4},
		{[]float64{5, 4, 3, 2, 1}, 3, 2, 5},
	} {
		first := c.of[0]
		if m, q, h := bench.Median(c.of), bench.Quantile(c.of, 0.25), bench.Quantile(c.of, 1); m != c.median || q != c.q1 || h != c.high {
			t.Errorf("of %v: median %v, first quartile %v, highest %v", c.of, m, q, h)
		}
		if c.of[0] != first {
			t.Errorf("%v was sorted in place", c.of)
		}
	}
}
