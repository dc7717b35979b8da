// Package chart draws lines over an axis: as SVG for a page, as a file of its own,
// or as PNG. The same chart is the same bytes.
//
// Lines differ in colour, in dashes and in markers, so that they can be told apart
// in greyscale, too, and by people who do not see all colours.
package chart

import (
	"fmt"
	"image/color"
	"io"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"
)

// Chart is lines over one pair of axes.
type Chart struct {
	Title string
	X, Y  Axis
	Lines []Line // at most LinesMax
}

// Axis says what is measured and in which unit.
type Axis struct {
	Label    string
	Duration bool // values are seconds, written as 30s, 5m, 2h
	Whole    bool // there is nothing between one and two
}

// Line is values that belong together.
type Line struct {
	Name   string // told in a legend if there is more than one
	Points []Point
	Steps  bool // a value holds until the next one, as counts do
}

// Point is one value; neither may be infinite or no number.
type Point struct{ X, Y float64 }

// The size of a chart, in points. Its text is readable down to 360 pixels.
const (
	width    = 400
	height   = 240
	fontSize = 12
)

// SVG writes the chart as a file of its own, on white.
func (c *Chart) SVG(w io.Writer) error {
	p, err := c.plot(true)
	if err != nil {
		return err
	}
	v := vgsvg.New(width, height)
	p.Draw(draw.New(v))
	_, err = v.WriteTo(w)
	return err
}

// PNG writes the chart as a picture on white.
func (c *Chart) PNG(w io.Writer) error {
	p, err := c.plot(true)
	if err != nil {
		return err
	}
	v := vgimg.NewWith(vgimg.UseWH(width, height), vgimg.UseDPI(2*vgimg.DefaultDPI))
	p.Draw(draw.New(v))
	_, err = vgimg.PngCanvas{Canvas: v}.WriteTo(w)
	return err
}

// plot is the chart as gonum knows it; titled says whether its title is part of it.
func (c *Chart) plot(titled bool) (*plot.Plot, error) {
	if len(c.Lines) == 0 || len(c.Lines) > LinesMax {
		return nil, fmt.Errorf("chart: %q: %d lines, want 1 to %d", c.Title, len(c.Lines), LinesMax)
	}
	p := plot.New()
	plain(&p.Title.TextStyle, fontSize+1)
	if p.BackgroundColor = nil; titled {
		p.Title.Text, p.Title.Padding, p.BackgroundColor = c.Title, vg.Points(6), color.White
	}
	grid := plotter.NewGrid()
	grid.Vertical.Color, grid.Horizontal.Color = gridColour, gridColour
	p.Add(grid)
	for i, l := range c.Lines {
		if err := add(p, i, l, len(c.Lines) > 1); err != nil {
			return nil, fmt.Errorf("chart: %q: %w", c.Title, err)
		}
	}
	c.bounds(p)
	axis(&p.X, c.X)
	axis(&p.Y, c.Y)
	plain(&p.Legend.TextStyle, fontSize)
	p.Legend.Top, p.Legend.Left = true, true
	p.Legend.Padding, p.Legend.ThumbnailWidth, p.Legend.XOffs = vg.Points(2), vg.Points(26), vg.Points(6)
	return p, nil
}

// add a line to the plot.
func add(p *plot.Plot, n int, l Line, legend bool) error {
	if len(l.Points) == 0 {
		return fmt.Errorf("line %q has no points", l.Name)
	}
	xys := make(plotter.XYs, len(l.Points))
	for i, pt := range l.Points {
		xys[i] = plotter.XY(pt)
	}
	line, err := plotter.NewLine(xys)
	if err != nil {
		return fmt.Errorf("line %q: %w", l.Name, err)
	}
	s := styles[n]
	line.Color, line.Width, line.Dashes = s.colour, vg.Points(1.6), s.dashes
	if l.Steps {
		line.StepStyle = plotter.PostStep
	}
	marks, err := plotter.NewScatter(some(xys))
	if err != nil {
		return fmt.Errorf("line %q: %w", l.Name, err)
	}
	marks.GlyphStyle = draw.GlyphStyle{Color: s.colour, Radius: vg.Points(2.8), Shape: s.shape}
	p.Add(line, marks)
	if legend {
		p.Legend.Add(l.Name, line, marks)
	}
	return nil
}

// some of the points bear a marker: the last, and others evenly before it.
func some(all plotter.XYs) plotter.XYs {
	const marksMax = 6
	n := min(len(all), marksMax)
	out := make(plotter.XYs, n)
	for i := range out {
		out[i] = all[(i+1)*len(all)/n-1]
	}
	return out
}

// bounds begin at zero and leave room for the legend above the lines.
func (c *Chart) bounds(p *plot.Plot) {
	p.X.Min, p.Y.Min = math.Min(p.X.Min, 0), math.Min(p.Y.Min, 0)
	for _, a := range []*plot.Axis{&p.X, &p.Y} {
		if a.Max <= a.Min {
			a.Max = a.Min + 1
		}
	}
	room := 0.04
	if len(c.Lines) > 1 {
		room = 0.1 * float64(len(c.Lines))
	}
	p.Y.Max += room * (p.Y.Max - p.Y.Min)
}

func axis(a *plot.Axis, want Axis) {
	a.Label.Text, a.Label.Padding = want.Label, vg.Points(3)
	plain(&a.Label.TextStyle, fontSize)
	plain(&a.Tick.Label, fontSize-1)
	a.LineStyle.Width, a.Tick.LineStyle.Width, a.Padding = vg.Points(0.75), vg.Points(0.75), 0
	a.Tick.Marker = plot.TickerFunc(counts)
	switch {
	case want.Duration:
		a.Tick.Marker = plot.TickerFunc(durations)
	case want.Whole:
		a.Tick.Marker = plot.TickerFunc(wholes)
	}
}

func plain(s *text.Style, size vg.Length) {
	s.Font = font.From(font.Font{Typeface: "Liberation", Variant: "Sans"}, size)
}
