package chart

import (
	"image/color"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// style of a line.
type style struct {
	colour color.RGBA
	dark   string // the same on a dark page
	dashes []vg.Length
	shape  draw.GlyphDrawer
}

// styles of the lines, in order. The colours are Okabe and Ito's ("Color Universal
// Design", 2008) without those that are too pale for a line on white; the dark ones
// are lighter tones of them.
var styles = []style{
	{color.RGBA{0x00, 0x72, 0xb2, 0xff}, "#63b6e8", nil, draw.CircleGlyph{}},
	{color.RGBA{0xd5, 0x5e, 0x00, 0xff}, "#f4965a", []vg.Length{6, 3}, draw.BoxGlyph{}},
	{color.RGBA{0x00, 0x84, 0x60, 0xff}, "#4cc9a3", []vg.Length{2, 2}, draw.TriangleGlyph{}},
	{color.RGBA{0x9c, 0x4f, 0x83, 0xff}, "#dd9cc4", []vg.Length{8, 3, 2, 3}, draw.RingGlyph{}},
	{color.RGBA{0x8a, 0x6a, 0x00, 0xff}, "#d9b84a", []vg.Length{10, 4}, draw.CrossGlyph{}},
}

// LinesMax is how many lines can be told apart.
const LinesMax = 5

// gridColour is seen, and not looked at.
var gridColour = color.RGBA{0xd9, 0xd9, 0xd9, 0xff}
