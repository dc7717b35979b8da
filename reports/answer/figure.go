package answer

import (
	"math"
	"slices"
	"strconv"

	"ipamsim/model/capacity"
)

// Number is null in JSON if it is not finite.
type Number float64

// MarshalJSON writes six digits: more are noise, and differ between processors.
func (n Number) MarshalJSON() ([]byte, error) {
	if v := float64(n); !math.IsInf(v, 0) && !math.IsNaN(v) {
		return strconv.AppendFloat(nil, v, 'g', 6, 64), nil
	}
	return []byte("null"), nil
}

// Figure is a measure of a cell over its trials. Measure.Over defines Value, Low and High.
//
// Low and High are null for the mean of one trial. A time of null is beyond the horizon.
type Figure struct {
	Value  Number `json:"value"`
	Low    Number `json:"low"`
	High   Number `json:"high"`
	Trials int    `json:"trials"` // with a value
	Any    int    `json:"any"`    // of these, those with a value other than 0
}

// figure summarizes values by repeat; ok is false if all are NaN.
func (m *Measure) figure(values []float64) (f Figure, ok bool) {
	known := slices.DeleteFunc(slices.Clone(values), math.IsNaN)
	if len(known) == 0 {
		return Figure{}, false
	}
	var v, low, high float64
	switch m.Over {
	case OverChance:
		k := 0
		for _, x := range known {
			k += int(x)
		}
		v = float64(k) / float64(len(known))
		low, high = Chance(k, len(known))
	case OverMedian:
		slices.Sort(known)
		low, v, high = Quantile(known, 0.25), Quantile(known, 0.5), Quantile(known, 0.75)
	default:
		v, low, high = Mean(known)
		if slices.Min(known) >= 0 { // as for all measures that count
			low = clip(low, 0, v)
		}
		if m.Unit == Share {
			high = clip(high, v, 1)
		}
	}
	if m.Over != OverMedian && math.IsInf(v+low+high, 0) {
		return Figure{}, false // overflow
	}
	any := len(known)
	for _, x := range known {
		if x == 0 {
			any--
		}
	}
	return Figure{Number(v), Number(low), Number(high), len(known), any}, true
}

func clip(v, low, high float64) float64 {
	if math.IsNaN(v) {
		return v
	}
	return min(max(v, low), high)
}

// values returns a measure of the trials of a cell, by repeat; NaN where it has no value.
func (m *Measure) values(c *Trials) []float64 {
	courses := c.Courses
	if m.Real {
		switch {
		case slices.ContainsFunc(c.Real, func(l *capacity.Course) bool { return l != nil }):
			courses = c.Real
		case c.Engine != RealCode:
			courses = nil
		}
	}
	out := make([]float64, len(courses))
	for i, l := range courses {
		if out[i] = math.NaN(); l != nil {
			out[i] = m.of(c, l)
		}
	}
	return out
}

// The engines: the real code, and the reference allocators that reproduce its decisions.
const (
	RealCode  = "real"
	Reference = "reference"
)

// paired returns the mean and band of b-a, repeat by repeat. A repeat has the same workload
// trace in all cells, so differences between traces cancel out.
func paired(a, b []float64) (mean, low, high float64) {
	var d []float64
	for i := range min(len(a), len(b)) {
		if x := b[i] - a[i]; !math.IsNaN(x) && !math.IsInf(x, 0) {
			d = append(d, x)
		}
	}
	return Mean(d)
}
