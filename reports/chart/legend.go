package chart

import (
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// entry of a legend: a little picture of what is meant, and what it is.
type entry struct {
	name  string
	thumb func(draw.Canvas) // nil: only words
	wide  vg.Length         // of the little picture; 0 is thumbWide
}

const (
	thumbWide = 26
	thumbHigh = 9
	entryGap  = 12 // between two
)

func (e entry) thumbWidth() vg.Length {
	switch {
	case e.thumb == nil:
		return 0
	case e.wide > 0:
		return e.wide
	}
	return thumbWide
}

func (e entry) width() vg.Length {
	w := e.thumbWidth() + textStyle(fontSize).Width(e.name)
	if e.thumb != nil && e.name != "" {
		w += 4
	}
	return w
}

// rows of entries as wide as there is room; names that do not fit are cut.
func rows(entries []entry, room vg.Length) [][]entry {
	var out [][]entry
	var used vg.Length
	for _, e := range entries {
		e.name = cut(e.name, room-e.thumbWidth()-4, textStyle(fontSize))
		w := e.width()
		if len(out) == 0 || used+w > room {
			out, used = append(out, nil), 0
		}
		out[len(out)-1] = append(out[len(out)-1], e)
		used += w + entryGap
	}
	return out
}

// drawRow draws entries side by side; at is the lower left corner.
func drawRow(c draw.Canvas, row []entry, at vg.Point) {
	s := textStyle(fontSize)
	for _, e := range row {
		x := at.X
		if e.thumb != nil {
			t := c
			t.Min = vg.Point{X: x, Y: at.Y + 3}
			t.Max = vg.Point{X: x + e.thumbWidth(), Y: at.Y + 3 + thumbHigh}
			e.thumb(t)
			x += e.thumbWidth() + 4
		}
		c.FillText(s, vg.Point{X: x, Y: at.Y + 4}, e.name)
		at.X += e.width() + entryGap
	}
}
