package capacity

import (
	"math"
	"math/rand/v2"
)

// Draw is one number of the distribution. A shape that there is not is Fixed.
func (d *Distribution) Draw(r *rand.Rand) int {
	x := d.Mean
	switch d.Shape {
	case Uniform:
		x += d.Spread * (2*r.Float64() - 1)
	case Normal:
		x += d.Spread * r.NormFloat64()
	case Poisson:
		if d.Mean > 1000 { // where it is a normal one, and counting takes long
			x += math.Sqrt(d.Mean) * r.NormFloat64()
			break
		}
		x = -1
		for t := 0.0; t < d.Mean; x++ {
			t += r.ExpFloat64()
		}
		x = max(x, 0)
	}
	n := int(math.Round(max(x, 0)))
	if d.Max > 0 {
		n = min(n, d.Max)
	}
	return n
}
