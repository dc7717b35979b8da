package workload

import (
	"hash/fnv"
	"math"
	"math/rand/v2"
)

// Distribution of whole numbers.
type Distribution struct {
	Shape  string  // Fixed (also ""), Uniform (Mean ± Spread), Normal (Spread is sigma) or Poisson
	Mean   float64 // drawn values are rounded
	Spread float64
	Max    int // nothing above; 0: no bound. Nothing is below 0.
}

// The shapes of distributions.
const (
	Fixed   = "fixed"
	Uniform = "uniform"
	Normal  = "normal"
	Poisson = "poisson"
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

// Draws is a sequence of numbers from 0 to 1 that belongs to a name in the trial of a seed,
// independent of other draws.
func Draws(seed uint64, name string) func() float64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(name))
	return rand.New(rand.NewPCG(seed, h.Sum64())).Float64
}
