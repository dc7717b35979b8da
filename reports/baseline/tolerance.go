package baseline

import (
	"maps"
	"math"
	"slices"

	"ipamsim/reports"
)

// Tolerance is the change of a cost that is not reported. The cost of one scenario may change by
// the greater of Relative and Absolute, plus what chance explains. The mean over all scenarios of
// a manager, in which chance cancels out, may change by Pooled, which is relative.
type Tolerance struct {
	Relative float64 `json:"relative"`
	Absolute float64 `json:"absolute"`
	Pooled   float64 `json:"pooled"`
}

// Tolerances to begin with. What chance does to the means of all: with other seeds
// for all 46 scenarios of Whereabouts, calls, writes, addresses moved by less than
// 2 %, conflicts by less than 20 %, the median time of a DEL by 7 %.
func Tolerances() map[reports.Family]Tolerance {
	return map[reports.Family]Tolerance{
		reports.APICalls:       {Relative: 0.05, Absolute: 0.5, Pooled: 0.02},
		reports.UsualAPICalls:  {Relative: 0, Absolute: 0.5, Pooled: 0.02},
		reports.Writes:         {Relative: 0.05, Absolute: 0.5, Pooled: 0.03},
		reports.Conflicts:      {Relative: 0.2, Absolute: 0.5, Pooled: 0.25},
		reports.TimeMedian:     {Relative: 0.1, Absolute: 0.05, Pooled: 0.15},
		reports.Time95:         {Relative: 0.2, Absolute: 0.1, Pooled: 0.2},
		reports.TimeLongest:    {Relative: 0.3, Absolute: 0.2, Pooled: 0.3},
		reports.Addresses:      {Relative: 0.02, Absolute: 1, Pooled: 0.03},
		reports.Blocks:         {Relative: 0.02, Absolute: 1, Pooled: 0.03},
		reports.Routes:         {Relative: 0.02, Absolute: 1, Pooled: 0.03},
		reports.RefusedADDs:    {Relative: 0.2, Absolute: 0.5, Pooled: 0.25},
		reports.WithoutAddress: {Pooled: 0.03},
	}
}

// What reports.CostOf says of ADDs that got nothing.
var (
	refusedADDs    = reports.Measure{Family: reports.RefusedADDs}
	withoutAddress = reports.Measure{Family: reports.WithoutAddress}
)

// tolerances of the baseline, with the usual ones for what its file does not know yet.
func (b *Baseline) tolerances() map[reports.Family]Tolerance {
	out := Tolerances()
	if b != nil {
		maps.Copy(out, b.Tolerances)
	}
	return out
}

func (t Tolerance) of(before float64) float64 { return max(t.Absolute, t.Relative*math.Abs(before)) }

// quartiles of each measure over runs: low, median, high.
func quartiles(runs []Run) map[reports.Measure][3]float64 {
	values := map[reports.Measure][]float64{}
	for _, r := range runs {
		for m, a := range r.Cost {
			if a.Of > 0 {
				values[m] = append(values[m], a.Each())
			}
		}
	}
	out := map[reports.Measure][3]float64{}
	for m, v := range values {
		slices.Sort(v)
		at := func(q float64) float64 { return math.Round(v[int(math.Round(q*float64(len(v)-1)))]*1e6) / 1e6 }
		out[m] = [3]float64{at(0.25), at(0.5), at(0.75)}
	}
	return out
}
