package chart

import (
	"fmt"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Chart is lines over one pair of axes, each with a band around it if it has one.
type Chart struct {
	Title string
	X, Y  Axis
	Lines []Line // at most LinesMax
}

// Line is a series of values.
type Line struct {
	Name   string // shown at its end or in a legend if there are several lines
	Points []Point
	Steps  bool // a value holds until the next one, for counts
	// Band is an interval around the values: percentiles or a confidence interval, which the
	// title or caption must name. It may be empty.
	Band []Range
}

// Point is one value.
type Point struct{ X, Y float64 }

// Range is from Low to High at X.
type Range struct{ X, Low, High float64 }

func (c *Chart) heading() string   { return c.Title }
func (c *Chart) height() vg.Length { return chartHigh }

// chartHigh is how high a chart is, and chartWide about how wide between its axes.
const (
	chartHigh = 222
	chartWide = 330
)

func (c *Chart) check() error {
	if len(c.Lines) == 0 || len(c.Lines) > LinesMax {
		return fmt.Errorf("%d lines, want 1 to %d", len(c.Lines), LinesMax)
	}
	for _, l := range c.Lines {
		if err := l.check(); err != nil {
			return err
		}
	}
	return nil
}

func (c *Chart) table() drawing {
	t := drawing{Kind: "chart", Columns: append([]string{"line"}, lineColumns(c.X, c.Y)...)}
	for _, l := range c.Lines {
		for _, row := range l.rows(c.X) {
			t.Rows = append(t.Rows, append([]any{l.Name}, row...))
		}
	}
	return t
}

func (c *Chart) legend() []entry {
	if len(c.Lines) < 2 || c.direct() != nil {
		return nil
	}
	var names []string
	for _, l := range c.Lines {
		names = append(names, l.Name)
	}
	return lineEntries(names)
}

func (c *Chart) draw(to draw.Canvas) {
	p := c.plot()
	names := c.direct()
	if names != nil {
		to.Max.X -= names.room
	}
	p.Draw(to)
	if names != nil {
		names.draw(p.DataCanvas(to), c.Lines)
	}
}

func (c *Chart) plot() *plot.Plot {
	p := lineplot(c.X, c.Y, fontSize, chartWide, chartHigh-44)
	for n, l := range c.Lines {
		p.Add(lineplotter{l, styleOf(n), n, len(c.Lines)})
	}
	c.X.bounds(&p.X)
	c.Y.bounds(&p.Y)
	headroom(&p.Y)
	return p
}
