package render

import (
	"io"
	"math"
	"strconv"

	"ipamsim/reports/answer"
	"ipamsim/reports/table"
)

// CSV writes every row with every measure that has a value: the value and the ends of its
// band, or the quartiles of a time, as MEASURE, MEASURE.low and MEASURE.high. A missing value
// is empty, and a time beyond the horizon is inf.
func (a *Answer) CSV(w io.Writer) error {
	head := []string{"row", "option"}
	for _, x := range a.Axes {
		head = append(head, x.Setting)
	}
	head = append(head, "engine", "trials", "realTrials", "addressesPerBlock", "poolSize", "meets", "recommended")
	for _, m := range a.Measures {
		head = append(head, m.Name, m.Name+".low", m.Name+".high")
	}
	out := table.New(head...)
	for n := range a.Rows {
		r := &a.Rows[n]
		line := []string{strconv.Itoa(n), r.Option}
		for i := range a.Axes {
			v := ""
			if i < len(r.Values) {
				v = r.Values[i]
			}
			line = append(line, v)
		}
		line = append(line, r.Engine, strconv.Itoa(r.Trials), strconv.Itoa(r.Real), strconv.Itoa(r.BlockSize), strconv.Itoa(r.PoolSize),
			met(r), strconv.FormatBool(a.Best(n)))
		for _, m := range a.Measures {
			f, ok := r.Figures[m.Name]
			for _, v := range []answer.Number{f.Value, f.Low, f.High} {
				switch {
				case !ok || math.IsNaN(float64(v)):
					line = append(line, "")
				case math.IsInf(float64(v), 1):
					line = append(line, "inf")
				default:
					line = append(line, strconv.FormatFloat(float64(v), 'g', 6, 64))
				}
			}
		}
		out.Add(line...)
	}
	return out.CSV(w)
}
