package chart

import (
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// style of a line.
type style struct {
	ink
	dashes []vg.Length
	shape  draw.GlyphDrawer
}

// LinesMax is the maximum number of distinguishable lines.
const LinesMax = 8

// styleOf returns the style of the nth line.
func styleOf(n int) style {
	return style{lineInks[n], dashes[n], shapes[n]}
}

var dashes = [LinesMax][]vg.Length{
	nil, {6, 3}, {2, 2}, {8, 3, 2, 3}, {12, 4}, {1.5, 4}, {8, 2, 2, 2, 2, 2}, {4, 6},
}

var shapes = [LinesMax]draw.GlyphDrawer{
	draw.CircleGlyph{}, draw.BoxGlyph{}, draw.TriangleGlyph{}, draw.RingGlyph{},
	draw.CrossGlyph{}, draw.PyramidGlyph{}, draw.SquareGlyph{}, draw.PlusGlyph{},
}

func (s style) line() draw.LineStyle {
	return draw.LineStyle{Color: s.RGBA, Width: vg.Points(1.6), Dashes: s.dashes}
}

// border of a band.
func (s style) border() draw.LineStyle {
	return draw.LineStyle{Color: s.RGBA, Width: vg.Points(0.7), Dashes: s.dashes}
}

func (s style) marker() draw.GlyphStyle {
	return draw.GlyphStyle{Color: s.RGBA, Radius: vg.Points(2.8), Shape: s.shape}
}
