// Package chart draws what was measured: lines with bands, small multiples, trade-offs
// of options, heat maps, bars, and whose a block is over time. A picture becomes
// part of a page, a file of its own, or PNG, and what is drawn is also there as CSV
// and JSON. The same picture is the same bytes.
//
// A picture is read at 400 pixels, in greyscale, and by people who do not see all
// colours: lines differ in dashes and markers, areas in patterns, heat in lightness.
// Names in it may come from anybody: they stay text, and are cut where there is no room.
package chart

import (
	"fmt"
	"image/color"
	"io"
	"math"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"
)

// Picture is one of Chart, Panels, Pareto, Heat, Owners and Bars. SVG, PNG, Inline, CSV and JSON
// write any of them. They return an error for NaN or infinite values, missing names, and more
// items than a reader can distinguish.
type Picture interface {
	heading() string
	check() error
	table() drawing
	// legend explains colours and marks, in its order; empty where that is clear.
	legend() []entry
	height() vg.Length // of what draw fills, bodyWide wide
	draw(c draw.Canvas)
}

var _ = []Picture{&Chart{}, &Panels{}, &Pareto{}, &Heat{}, &Owners{}, &Bars{}}

// The size of pictures and of their text, in points; one is a pixel at 400 pixels.
const (
	width     = 400
	titleSize = 13
	fontSize  = 12
	smallSize = 10.5 // where there is much to say
)

// SVG writes the picture as a file of its own, on white.
func SVG(w io.Writer, p Picture) error {
	v, err := vector(p, true)
	if err != nil {
		return err
	}
	text, err := markup(v)
	if err != nil {
		return err
	}
	_, err = io.WriteString(w, styled.ReplaceAllStringFunc(text, func(style string) string {
		return strings.Replace(style, "font-family:Liberation Sans", "font-family:"+strings.ReplaceAll(family, `"`, "'"), 1)
	}))
	return err
}

// PNG writes the picture on white, 1067 pixels wide.
func PNG(w io.Writer, p Picture) error {
	v, err := raster(p, 2*vgimg.DefaultDPI)
	if err != nil {
		return err
	}
	_, err = vgimg.PngCanvas{Canvas: v}.WriteTo(w)
	return err
}

func vector(p Picture, titled bool) (*vgsvg.Canvas, error) {
	f, err := frameOf(p, titled)
	if err != nil {
		return nil, err
	}
	v := vgsvg.New(width, f.height)
	f.draw(draw.New(v))
	return v, nil
}

func raster(p Picture, dpi int) (*vgimg.Canvas, error) {
	f, err := frameOf(p, true)
	if err != nil {
		return nil, err
	}
	v := vgimg.NewWith(vgimg.UseWH(width, f.height), vgimg.UseDPI(dpi))
	f.draw(draw.New(v))
	return v, nil
}

// frame is what surrounds a picture: its title, and its legend below.
type frame struct {
	Picture
	title  []string // lines; nil where a page says it
	legend [][]entry
	height vg.Length
}

// titleLines is how many lines a title may have.
const titleLines = 2

func frameOf(p Picture, titled bool) (*frame, error) {
	if err := p.check(); err != nil {
		return nil, fmt.Errorf("chart: %q: %w", shown(p.heading()), err)
	}
	f := &frame{Picture: p, legend: rows(p.legend(), bodyWide)}
	if titled {
		f.title = wrap(p.heading(), bodyWide, textStyle(titleSize), titleLines)
	}
	f.height = p.height() + f.above()
	return f, nil
}

// margin at the sides, and what is left between them.
const (
	margin   = 4
	bodyWide = width - 2*margin
)

// above is how high title and legend are together.
func (f *frame) above() vg.Length {
	h := vg.Length(len(f.title))*titleRow + vg.Length(len(f.legend))*legendRow
	if len(f.legend) > 0 {
		h += margin
	}
	return h
}

const (
	titleRow  = titleSize + 5
	legendRow = fontSize + 4
)

func (f *frame) draw(c draw.Canvas) {
	if f.title != nil {
		c.SetColor(color.White)
		c.Fill(c.Rectangle.Path())
	}
	y := c.Max.Y
	s := textStyle(titleSize)
	s.XAlign = draw.XCenter
	for _, line := range f.title {
		y -= titleRow
		c.FillText(s, vg.Point{X: c.Center().X, Y: y + 4}, line)
	}
	for _, row := range f.legend {
		y -= legendRow
		drawRow(c, row, vg.Point{X: c.Min.X + margin, Y: y})
	}
	if len(f.legend) > 0 {
		y -= margin
	}
	f.Picture.draw(draw.Crop(c, margin, -margin, 0, y-c.Max.Y))
}

// finite complains of a value that cannot be drawn: the axis around one beyond 1e300
// would have no end.
func finite(values ...float64) error {
	for _, v := range values {
		if math.IsNaN(v) || math.Abs(v) > 1e300 {
			return fmt.Errorf("%v is no value to draw", v)
		}
	}
	return nil
}
