package answer

import (
	"encoding/csv"
	"io"
	"math"
	"strconv"
	"strings"
)

// CSV writes every row with every measure that says something: its value, and the
// ends of its band, or the quartiles of a time, as MEASURE, MEASURE.low and
// MEASURE.high. What says nothing is empty, and a time beyond the horizon inf.
func (a *Answer) CSV(w io.Writer) error {
	out := csv.NewWriter(w)
	head := []string{"row", "option"}
	for _, x := range a.Axes {
		head = append(head, harmless(x.Setting))
	}
	head = append(head, "engine", "lives", "realLives", "addressesPerBlock", "poolSize", "meets", "recommended")
	for _, m := range a.Measures {
		head = append(head, m.Name, m.Name+".low", m.Name+".high")
	}
	if err := out.Write(head); err != nil {
		return err
	}
	for n := range a.Rows {
		r := &a.Rows[n]
		line := []string{strconv.Itoa(n), harmless(r.Option)}
		for i := range a.Axes {
			v := ""
			if i < len(r.Values) {
				v = harmless(r.Values[i])
			}
			line = append(line, v)
		}
		line = append(line, harmless(r.Engine), strconv.Itoa(r.Lives), strconv.Itoa(r.Real), strconv.Itoa(r.BlockSize), strconv.Itoa(r.PoolSize),
			r.meets(), strconv.FormatBool(a.recommended(n)))
		for _, m := range a.Measures {
			f, ok := r.Figures[m.Name]
			for _, v := range []Number{f.Value, f.Low, f.High} {
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
		if err := out.Write(line); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

// harmless is a text that no spreadsheet takes for a formula.
func harmless(s string) string {
	if s != "" && strings.ContainsRune("=+-@\t\r", rune(s[0])) {
		if _, err := strconv.ParseFloat(s, 64); err != nil {
			return "'" + s
		}
	}
	return s
}
