package render

import (
	"fmt"
	"slices"
	"strings"

	"ipamsim/reports/answer"
	"ipamsim/reports/chart"
)

// heatMaps draws measures by the first two axes, one map for each combination of the others.
func (a *Answer) heatMaps() (out []answer.Plot) {
	if len(a.Axes) < 2 {
		return nil
	}
	const mapsMax = 4
	for _, name := range a.varied("exhaustion", "timeToExhaustion", a.Minimise) {
		m := a.Measure(name)
		keys, rows := a.rowsBy(func(n int) string { return a.rest(n) })
		for i, k := range keys[:min(len(keys), mapsMax)] {
			p := answer.Plot{Name: "heat-" + m.Name, Title: m.Title, Caption: fmt.Sprintf("%s by %s and %s: %s.", m.Title, a.Axes[0].Setting, a.Axes[1].Setting, overWords(m))}
			if k != "" {
				p.Name, p.Title = fmt.Sprintf("%s-%d", p.Name, i+1), p.Title+", "+k
				p.Caption = k + ": " + p.Caption
			}
			if i == 0 && len(keys) > mapsMax {
				p.Caption += fmt.Sprintf(" %d of %d maps are drawn.", mapsMax, len(keys))
			}
			p.Picture = a.heat(p.Title, m, rows[k])
			out = append(out, p)
		}
	}
	return out
}

// rest names a row without its first two values.
func (a *Answer) rest(n int) string {
	r := answer.Row{Option: a.Rows[n].Option, Values: a.Rows[n].Values[2:]}
	if r.Option == "" && len(r.Values) == 0 {
		return ""
	}
	return answer.NameOf(a.Axes[2:], &r)
}

func (a *Answer) heat(title string, m *answer.Measure, rows []int) chart.Picture {
	h := &chart.Heat{
		Title: title, Z: axisOf(m),
		X: chart.Axis{Label: a.Axes[0].Setting, Names: a.Axes[0].Values}, Y: chart.Axis{Label: a.Axes[1].Setting, Names: a.Axes[1].Values},
	}
	for _, n := range rows {
		f, ok := a.Rows[n].Figures[m.Name]
		x, y := slices.Index(h.X.Names, a.Rows[n].Values[0]), slices.Index(h.Y.Names, a.Rows[n].Values[1])
		if !ok || x < 0 || y < 0 {
			continue
		}
		t := chart.Tile{X: x, Y: y}
		t.Z, _ = a.drawable(m, f.Value)
		t.Text = strings.ReplaceAll(a.Say(m.Unit, float64(f.Value)), " ", "")
		h.Tiles = append(h.Tiles, t)
	}
	return h
}

// varied returns the names of measures that differ between rows, without duplicates.
func (a *Answer) varied(names ...string) (out []string) {
	for _, name := range names {
		if m := a.Measure(name); m == nil || slices.Contains(out, name) {
			continue
		}
		rows := a.withTrials()
		first := a.Rows[rows[0]].Figures[name].Value
		if slices.ContainsFunc(rows, func(n int) bool { return a.Rows[n].Figures[name].Value != first }) {
			out = append(out, name)
		}
	}
	return out
}

// along lists the measures drawn along the axis of a setting, in addition to the measure to
// minimise. Other settings have the chance of exhaustion.
var along = map[string][]string{
	"reconcileEvery":   {"leaked", "timeToExhaustion"},
	"grace":            {"leaked", "timeToExhaustion"},
	"crashEvery":       {"leaked", "timeToExhaustion"},
	"replaceEvery":     {"leaked", "stale"},
	"drainEvery":       {"borrowed", "blocksPerNode"},
	"blockSize":        {"routes", "waste"},
	"maxBlocksPerHost": {"starved", "refused"},
	"strictAffinity":   {"blackholed", "refused"},
	"poolSize":         {"exhaustion", "utilisationPeak"},
}

// alongAxes draws measures along each axis with at least two values, one line for each of the
// other combinations if there are few.
func (a *Answer) alongAxes() (out []answer.Plot) {
	for i, x := range a.Axes {
		if len(x.Values) < 2 {
			continue
		}
		names, known := along[x.Setting]
		if !known {
			names = []string{"exhaustion", "timeToExhaustion"}
		}
		for _, name := range a.varied(append(slices.Clone(names), a.Minimise)...) {
			m := a.Measure(name)
			keys, rows := a.rowsBy(func(n int) string { return a.without(n, i) })
			if len(keys) > linesMax {
				continue
			}
			p := answer.Plot{Name: "along-" + slug(x.Setting) + "-" + m.Name, Title: m.Title + " against " + x.Setting}
			c := &chart.Chart{Title: p.Title, X: chart.Axis{Label: x.Setting, Names: x.Values}, Y: axisOf(m)}
			ends := false
			for _, k := range keys {
				l, beyond := a.alongLine(k, i, m, rows[k])
				if m.Over == answer.OverMedian && len(keys) > 1 {
					l.Band = nil // quartiles of several lines overlap
				}
				ends = ends || beyond
				if len(l.Points) > 0 {
					c.Lines = append(c.Lines, l)
				}
			}
			if len(c.Lines) == 0 {
				continue
			}
			p.Caption = fmt.Sprintf("%s for each value of %s: %s.", m.Title, x.Setting, overWords(m))
			if m.Over == answer.OverMedian && len(keys) > 1 {
				p.Caption = fmt.Sprintf("%s for each value of %s: the median of all trials.", m.Title, x.Setting)
			}
			if ends {
				p.Caption += " A point at the horizon is beyond it."
			}
			p.Picture = c
			out = append(out, p)
		}
	}
	return out
}

func (a *Answer) alongLine(name string, axis int, m *answer.Measure, rows []int) (l chart.Line, beyond bool) {
	l.Name = name
	for _, n := range rows {
		f, ok := a.Rows[n].Figures[m.Name]
		x := slices.Index(a.Axes[axis].Values, a.Rows[n].Values[axis])
		if !ok || x < 0 {
			continue
		}
		y, over := a.drawable(m, f.Value)
		low, _ := a.drawable(m, f.Low)
		high, _ := a.drawable(m, f.High)
		beyond = beyond || over
		l.Points = append(l.Points, chart.Point{X: float64(x), Y: y})
		if low == low && high == high { // not NaN: one trial has no band
			l.Band = append(l.Band, chart.Range{X: float64(x), Low: low, High: high})
		}
	}
	return l, beyond
}

// overWords describes how a measure summarizes trials.
func overWords(m *answer.Measure) string {
	switch m.Over {
	case answer.OverChance:
		return "the share of trials, with Clopper and Pearson's band of 95%"
	case answer.OverMedian:
		return "the median of all trials, with the quartiles"
	}
	return "the mean over all trials, with a band of 95%"
}
