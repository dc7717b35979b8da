package baseline

import (
	"maps"
	"math"
	"slices"
	"strings"
)

// Tolerance is how far a cost may move before anybody is told. A single scenario
// may move by the greater of Relative and Absolute, and besides by what chance does
// to it; the mean over all scenarios of a manager, in which chance cancels out, by
// Pooled, which is relative.
type Tolerance struct {
	Relative float64 `json:"relative"`
	Absolute float64 `json:"absolute"`
	Pooled   float64 `json:"pooled"`
}

// Tolerances to begin with. What chance does to the means of all: with other seeds
// for all 46 scenarios of Whereabouts, calls, writes, addresses moved by less than
// 2 %, conflicts by less than 20 %, the median time of a DEL by 7 %.
func Tolerances() map[string]Tolerance {
	return map[string]Tolerance{
		"API calls":       {Relative: 0.05, Absolute: 0.5, Pooled: 0.02},
		"usual API calls": {Relative: 0, Absolute: 0.5, Pooled: 0.02},
		"writes":          {Relative: 0.05, Absolute: 0.5, Pooled: 0.03},
		"conflicts":       {Relative: 0.2, Absolute: 0.5, Pooled: 0.25},
		"time, median":    {Relative: 0.1, Absolute: 0.05, Pooled: 0.15},
		"time, 95 %":      {Relative: 0.2, Absolute: 0.1, Pooled: 0.2},
		"time, longest":   {Relative: 0.3, Absolute: 0.2, Pooled: 0.3},
		"addresses":       {Relative: 0.02, Absolute: 1, Pooled: 0.03},
		"blocks":          {Relative: 0.02, Absolute: 1, Pooled: 0.03},
		"routes":          {Relative: 0.02, Absolute: 1, Pooled: 0.03},
		refusedADDs:       {Relative: 0.2, Absolute: 0.5, Pooled: 0.25},
		withoutAddress:    {Pooled: 0.03},
	}
}

// What reports.CostOf says of ADDs that got nothing.
const (
	refusedADDs    = "ADDs refused"
	withoutAddress = "pods without an address"
)

// tolerances of the baseline, with the usual ones for what its file does not know yet.
func (b *Baseline) tolerances() map[string]Tolerance {
	out := Tolerances()
	if b != nil {
		maps.Copy(out, b.Tolerances)
	}
	return out
}

// Family of a measure: what its tolerance is filed under.
func Family(measure string) string {
	if at, part, ok := strings.Cut(measure, ", "); ok && strings.HasPrefix(at, "time of ") {
		return "time, " + part
	}
	for _, f := range []string{" per ", " of a usual ", " at "} {
		if i := strings.Index(measure, f); i > 0 {
			if f == " of a usual " {
				return "usual " + measure[:i]
			}
			return measure[:i]
		}
	}
	return measure
}

func (t Tolerance) of(before float64) float64 { return max(t.Absolute, t.Relative*math.Abs(before)) }

// quartiles of each measure over runs: low, median, high.
func quartiles(runs []Run) map[string][3]float64 {
	values := map[string][]float64{}
	for _, r := range runs {
		for name, a := range r.Cost {
			if a.Of > 0 {
				values[name] = append(values[name], a.Each())
			}
		}
	}
	out := map[string][3]float64{}
	for name, v := range values {
		slices.Sort(v)
		at := func(q float64) float64 { return math.Round(v[int(math.Round(q*float64(len(v)-1)))]*1e6) / 1e6 }
		out[name] = [3]float64{at(0.25), at(0.5), at(0.75)}
	}
	return out
}
