package answer

import (
	"math"
	"slices"
	"strconv"

	"ipamsim/model/capacity"
)

// Number is null in JSON where it is not finite.
type Number float64

// MarshalJSON writes six digits: more are noise, and differ between processors.
func (n Number) MarshalJSON() ([]byte, error) {
	if v := float64(n); !math.IsInf(v, 0) && !math.IsNaN(v) {
		return strconv.AppendFloat(nil, v, 'g', 6, 64), nil
	}
	return []byte("null"), nil
}

// Figure is a measure of a cell over its lives. Measure.Over says what Value, Low
// and High are.
//
// Low and High are null for a mean of one life, which says nothing about others. A
// time that is null is later than the horizon.
type Figure struct {
	Value  Number `json:"value"`
	Low    Number `json:"low"`
	High   Number `json:"high"`
	Trials int    `json:"lives"` // that say something
	Any    int    `json:"any"`   // of these, in which it is not 0
}

// figure of values by repeat; ok is false if none of them says anything.
func (m *Measure) figure(values []float64) (f Figure, ok bool) {
	said := slices.DeleteFunc(slices.Clone(values), math.IsNaN)
	if len(said) == 0 {
		return Figure{}, false
	}
	var v, low, high float64
	switch m.Over {
	case OverChance:
		k := 0
		for _, x := range said {
			k += int(x)
		}
		v = float64(k) / float64(len(said))
		low, high = Chance(k, len(said))
	case OverMedian:
		slices.Sort(said)
		low, v, high = Quantile(said, 0.25), Quantile(said, 0.5), Quantile(said, 0.75)
	default:
		v, low, high = Mean(said)
		if slices.Min(said) >= 0 { // as all measures are that count something
			low = clip(low, 0, v)
		}
		if m.Unit == Share {
			high = clip(high, v, 1)
		}
	}
	if m.Over != OverMedian && math.IsInf(v+low+high, 0) {
		return Figure{}, false // more than anybody can have measured
	}
	any := len(said)
	for _, x := range said {
		if x == 0 {
			any--
		}
	}
	return Figure{Number(v), Number(low), Number(high), len(said), any}, true
}

func clip(v, low, high float64) float64 {
	if math.IsNaN(v) {
		return v
	}
	return min(max(v, low), high)
}

// values are what a measure says of the lives of a cell, by repeat; not a number
// where it says nothing.
func (m *Measure) values(c *Trials) []float64 {
	lives := c.Courses
	if m.Real {
		switch {
		case slices.ContainsFunc(c.Real, func(l *capacity.Course) bool { return l != nil }):
			lives = c.Real
		case c.Engine != RealCode:
			lives = nil
		}
	}
	out := make([]float64, len(lives))
	for i, l := range lives {
		if out[i] = math.NaN(); l != nil {
			out[i] = m.of(c, l)
		}
	}
	return out
}

// The engines: the real code, and the allocators that do what it does.
const (
	RealCode  = "real"
	Reference = "reference"
)

// paired is by how much b exceeds a, repeat by repeat: the same repeat has the same
// tape in all cells, so that what happens by chance cancels out.
func paired(a, b []float64) (mean, low, high float64) {
	var d []float64
	for i := range min(len(a), len(b)) {
		if x := b[i] - a[i]; !math.IsNaN(x) && !math.IsInf(x, 0) {
			d = append(d, x)
		}
	}
	return Mean(d)
}
