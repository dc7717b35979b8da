package baseline

import (
	"math"
	"testing"
)

// TestMore is Fisher's exact test: his lady and her cups of tea, and what a gate
// meets.
func TestMore(t *testing.T) {
	for _, x := range []struct {
		name            string
		k, n, h, others int
		want            float64
	}{
		{"four of four cups with milk first told from four others", 4, 4, 0, 4, 1.0 / 70},
		{"three of four", 3, 4, 1, 4, 17.0 / 70},
		{"no hit is no news", 0, 3, 27, 100, 1},
		{"as often as before", 27, 100, 27, 100, 0.563},
		{"every run, where one in ten was", 3, 3, 10, 100, 0.0016},
	} {
		if got := More(x.k, x.n, x.h, x.others); math.Abs(got-x.want) > 0.01*x.want+5e-4 {
			t.Errorf("%s: %.5f, want %.5f", x.name, got, x.want)
		}
	}
}

// TestNone: how likely what is still there is missed.
func TestNone(t *testing.T) {
	for _, x := range []struct {
		n, h, others int
		want         float64
	}{{100, 5, 100, 0.0059}, {3, 27, 100, 0.389}, {10, 0, 100, 1}, {10, 0, 0, 1}, {1, 100, 100, 0}} {
		if got := none(x.n, x.h, x.others); math.Abs(got-x.want) > 1e-3 {
			t.Errorf("%d runs at %d of %d: %.4f, want %.4f", x.n, x.h, x.others, got, x.want)
		}
	}
}
