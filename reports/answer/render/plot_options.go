package render

import (
	"fmt"
	"slices"
	"strings"

	"ipamsim/reports/answer"
	"ipamsim/reports/answer/words"
	"ipamsim/reports/chart"
)

// tradeoffs draws waste against routes for each recommendation's rows.
func (a *Answer) tradeoffs() (out []answer.Plot) {
	const groupsMax = 6
	if len(a.varied("waste")) == 0 || len(a.varied("routes")) == 0 {
		return nil
	}
	for i := range a.Recommended {
		r := &a.Recommended[i]
		if i == groupsMax || len(r.Among) < 2 {
			break
		}
		p := answer.Plot{Name: "tradeoff", Title: "Waste against routes", Caption: "Means over all trials; less is better in both. No option that meets the requirements is better in both than one on the staircase."}
		if len(a.Recommended) > 1 {
			p.Name, p.Title = fmt.Sprintf("tradeoff-%d", i+1), p.Title+", with "+words.List(r.Given)
		}
		c := &chart.Pareto{Title: p.Title, X: axisOf(a.Measure("routes")), Y: axisOf(a.Measure("waste"))}
		c.Y.Share = true
		for _, n := range r.Among {
			routes, ok := a.Rows[n].Figures["routes"]
			waste, too := a.Rows[n].Figures["waste"]
			if ok && too && len(c.Points) < chart.PointsMax {
				name := a.Choice(n)
				c.Points = append(c.Points, chart.Named{Name: name[1 : len(name)-1], X: float64(routes.Value), Y: float64(waste.Value), Recommended: a.Best(n), Fails: a.Rows[n].Outcome() == answer.Breaks})
			}
		}
		if len(c.Points) > 1 {
			p.Picture = c
			out = append(out, p)
		}
	}
	return out
}

// strandedBars draws the free addresses that cannot be assigned.
func (a *Answer) strandedBars() []answer.Plot {
	if len(a.varied("stranded")) == 0 {
		return nil
	}
	m := a.Measure("stranded")
	rows, left := a.drawn(chart.BarsMax)
	p := answer.Plot{Name: "stranded", Title: m.Title, Caption: m.Doc + " The whisker is a band of 95%." + left}
	var settings []string
	for _, x := range slices.Backward(a.Axes) {
		settings = append(settings, x.Setting)
	}
	if len(settings) > 0 {
		p.Title += " by " + words.List(settings)
	}
	c := &chart.Bars{Title: p.Title, X: axisOf(m)}
	for _, n := range rows {
		if f, ok := a.Rows[n].Figures[m.Name]; ok {
			b := chart.Bar{Name: a.brief(n), Value: float64(f.Value)}
			if f.Low < f.High {
				b.Low, b.High = float64(f.Low), float64(f.High)
			}
			c.Bars = append(c.Bars, b)
		}
	}
	p.Picture = c
	return []answer.Plot{p}
}

// brief is a short name of a row: the values without their settings, the last axis first.
func (a *Answer) brief(n int) string {
	r := &a.Rows[n]
	parts := words.NonEmpty([]string{r.Option})
	for _, v := range slices.Backward(r.Values) {
		parts = append(parts, v)
	}
	if len(parts) == 0 {
		return r.Name
	}
	return strings.Join(parts, ", ")
}
