package render

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"ipamsim/model/capacity"
	"ipamsim/reports/answer"
	"ipamsim/reports/answer/words"
	"ipamsim/reports/chart"
)

// exhaustionOverTime draws the share of trials in which addresses have run out by each time:
// a line for each row, or small multiples over the first axis if there are many rows.
func (a *Answer) exhaustionOverTime() []answer.Plot {
	rows, left := a.drawn(linesMax)
	if len(rows) == 0 {
		return nil
	}
	p := answer.Plot{
		Name: "exhaustion", Title: "Chance that addresses have run out",
		Caption: fmt.Sprintf("The share of %s in which an ADD had been refused by then because no address was free, with Clopper and Pearson's band of 95%%.", words.Plural(a.Repeats, "trial")),
	}
	x, y := chart.Axis{Label: "time", Duration: true}, chart.Axis{Label: "chance", Share: true}
	if panels := a.panelsOver(0, func(n int, name string, band bool) chart.Line { return a.exhaustionLine(n, name, band) }); left != "" && panels != nil {
		p.Picture = &chart.Panels{Title: p.Title, X: x, Y: y, Panels: panels}
		return []answer.Plot{p}
	}
	c := &chart.Chart{Title: p.Title, X: x, Y: y}
	for _, n := range rows {
		c.Lines = append(c.Lines, a.exhaustionLine(n, a.Rows[n].Name, true))
	}
	p.Caption += left
	p.Picture = c
	return []answer.Plot{p}
}

// panelsOver returns small multiples over an axis, or nil if they do not fit.
func (a *Answer) panelsOver(axis int, line func(n int, name string, band bool) chart.Line) (out []chart.Panel) {
	if axis >= len(a.Axes) {
		return nil
	}
	keys, rows := a.rowsBy(func(n int) string { return a.Rows[n].Values[axis] })
	if names, _ := a.rowsBy(func(n int) string { return a.without(n, axis) }); len(keys) > chart.PanelsMax || len(names) > linesMax {
		return nil
	}
	for _, k := range keys {
		if len(rows[k]) > linesMax {
			return nil
		}
		p := chart.Panel{Title: a.Axes[axis].Setting + " " + k}
		for _, n := range rows[k] {
			p.Lines = append(p.Lines, line(n, a.without(n, axis), len(rows[k]) <= bandsMax))
		}
		out = append(out, p)
	}
	return out
}

// stepsOfTime is the number of points of a line over time.
const stepsOfTime = 100

func (a *Answer) exhaustionLine(n int, name string, band bool) chart.Line {
	l := chart.Line{Name: name, Steps: true}
	var at []time.Duration
	for _, course := range a.Question.Cells[n].Courses {
		if course != nil && course.Exhausted != capacity.Never {
			at = append(at, course.Exhausted)
		}
	}
	slices.Sort(at)
	k, low, high := -1, 0.0, 0.0
	for i := range stepsOfTime + 1 {
		t := a.Question.Horizon * time.Duration(i) / stepsOfTime
		by, _ := slices.BinarySearch(at, t+1)
		if by != k {
			k = by
			low, high = answer.Chance(k, a.Rows[n].Trials)
		}
		l.Points = append(l.Points, chart.Point{X: t.Seconds(), Y: float64(k) / float64(a.Rows[n].Trials)})
		if band {
			l.Band = append(l.Band, chart.Range{X: t.Seconds(), Low: low, High: high})
		}
	}
	return l
}

// quantity is a value of a sample that overTime draws.
type quantity struct {
	title string
	axis  chart.Axis
	of    func(c *answer.Trials, s *capacity.Sample) float64
}

var quantities = []quantity{
	{"Addresses in use", chart.Axis{Label: "share", Share: true}, func(_ *answer.Trials, s *capacity.Sample) float64 {
		if s.Size == 0 {
			return 0
		}
		return float64(s.InUse) / float64(s.Size)
	}},
	{"Pods without an address", chart.Axis{Label: "pods"}, func(_ *answer.Trials, s *capacity.Sample) float64 { return float64(s.Waiting) }},
	{"Pods without a node", chart.Axis{Label: "pods"}, func(_ *answer.Trials, s *capacity.Sample) float64 { return float64(s.Unplaced) }},
	{"Borrowed addresses", chart.Axis{Label: "addresses"}, func(_ *answer.Trials, s *capacity.Sample) float64 { return float64(s.Borrowed) }},
	{"Blackholed", chart.Axis{Label: "pairs"}, func(_ *answer.Trials, s *capacity.Sample) float64 { return float64(s.Blackholed) }},
	{"Leaked addresses", chart.Axis{Label: "addresses"}, func(_ *answer.Trials, s *capacity.Sample) float64 { return float64(s.Leaked) }},
	{"Routes", chart.Axis{Label: "prefixes"}, func(_ *answer.Trials, s *capacity.Sample) float64 { return float64(s.Routes) }},
	{"Nodes without a block", chart.Axis{Label: "nodes"}, func(_ *answer.Trials, s *capacity.Sample) float64 { return float64(s.Starved) }},
	{"Stale affinities", chart.Axis{Label: "affinities"}, func(_ *answer.Trials, s *capacity.Sample) float64 { return float64(s.Stale) }},
}

// overTime draws a panel for each quantity that is ever not 0.
func (a *Answer) overTime() []answer.Plot {
	rows, left := a.drawn(linesMax)
	if len(rows) == 0 {
		return nil
	}
	band := len(rows) <= bandsMax
	p := answer.Plot{Name: "over-time", Title: "Quantities over time", Caption: fmt.Sprintf("The mean over %s at each time", words.Plural(a.Repeats, "trial"))}
	if band {
		p.Caption += ", with the 5th to the 95th percentile as a band"
	}
	c := &chart.Panels{Title: p.Title, X: chart.Axis{Label: "time", Duration: true}}
	var never []string
	for _, q := range quantities {
		panel, ever := chart.Panel{Title: a.Question.Manager.Says(q.title), Y: a.axis(q.axis)}, false
		for _, n := range rows {
			l := a.quantityLine(n, &q, band)
			ever = ever || slices.ContainsFunc(l.Points, func(p chart.Point) bool { return p.Y != 0 }) ||
				slices.ContainsFunc(l.Band, func(r chart.Range) bool { return r.High != 0 })
			if len(l.Points) > 0 {
				panel.Lines = append(panel.Lines, l)
			}
		}
		if ever {
			c.Panels = append(c.Panels, panel)
		} else {
			never = append(never, a.Question.Manager.Says(strings.ToLower(q.title[:1])+q.title[1:]))
		}
	}
	if len(c.Panels) == 0 {
		return nil
	}
	p.Caption += "." + left
	if len(never) > 0 {
		p.Caption += " Always 0 and omitted: " + words.List(never) + "."
	}
	p.Picture = c
	return []answer.Plot{p}
}

// quantityLine returns the mean over trials at each sample.
func (a *Answer) quantityLine(n int, q *quantity, band bool) chart.Line {
	cell := &a.Question.Cells[n]
	l := chart.Line{Name: a.Rows[n].Name}
	values := make([]float64, 0, len(cell.Courses))
	for i := 0; ; i++ {
		values = values[:0]
		at := time.Duration(0)
		for _, course := range cell.Courses {
			if course != nil && i < len(course.Samples) {
				values, at = append(values, q.of(cell, &course.Samples[i])), course.Samples[i].At
			}
		}
		if len(values) == 0 {
			return l
		}
		slices.Sort(values) // so that the order of trials does not change the sum
		sum := 0.0
		for _, v := range values {
			sum += v
		}
		x := at.Seconds()
		l.Points = append(l.Points, chart.Point{X: x, Y: sum / float64(len(values))})
		if band {
			l.Band = append(l.Band, chart.Range{X: x, Low: answer.Quantile(values, 0.05), High: answer.Quantile(values, 0.95)})
		}
	}
}

// axis replaces the label of an axis by the manager's wording.
func (a *Answer) axis(x chart.Axis) chart.Axis {
	x.Label = a.Question.Manager.Says(x.Label)
	return x
}
