package chart

import (
	"fmt"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Heat is a value by two settings: the darker, the more, from 0 or the least to the
// most, or from 0% to 100%. Where there is no value it is hatched.
type Heat struct {
	Title string
	X, Y  Axis // with Names: the columns from the left, the rows from the bottom
	Z     Axis // what the values are
	Tiles []Tile
}

// Tile is the value at a column and a row, both from 0.
type Tile struct {
	X, Y int
	Z    float64
	Text string // written instead of the value, as "> 30d"; "" is the value
}

// heatMax is how many columns and how many rows a picture may have.
const heatMax = 60

func (h *Heat) heading() string { return h.Title }

func (h *Heat) check() error {
	if len(h.X.Names) == 0 || len(h.Y.Names) == 0 || len(h.X.Names) > heatMax || len(h.Y.Names) > heatMax {
		return fmt.Errorf("%d columns and %d rows, want 1 to %d of each", len(h.X.Names), len(h.Y.Names), heatMax)
	}
	seen := map[[2]int]bool{}
	for _, t := range h.Tiles {
		if t.X < 0 || t.X >= len(h.X.Names) || t.Y < 0 || t.Y >= len(h.Y.Names) {
			return fmt.Errorf("a value in column %d of %d, row %d of %d", t.X, len(h.X.Names), t.Y, len(h.Y.Names))
		}
		if err := finite(t.Z); err != nil {
			return fmt.Errorf("column %d, row %d: %w", t.X, t.Y, err)
		}
		if seen[[2]int{t.X, t.Y}] {
			return fmt.Errorf("two values in column %d, row %d", t.X, t.Y)
		}
		seen[[2]int{t.X, t.Y}] = true
	}
	return nil
}

// table has a row for each cell, without a value where there is none.
func (h *Heat) table() drawing {
	t := drawing{Kind: "heat", Columns: []string{h.X.column("x"), h.Y.column("y"), h.Z.column("value"), "text"}}
	tiles := h.byPlace()
	for y := range h.Y.Names {
		for x := range h.X.Names {
			row := []any{h.X.Names[x], h.Y.Names[y], nil, nil}
			if tile, ok := tiles[[2]int{x, y}]; ok {
				row[2], row[3] = tile.Z, h.label(tile)
			}
			t.Rows = append(t.Rows, row)
		}
	}
	return t
}

func (h *Heat) byPlace() map[[2]int]Tile {
	out := map[[2]int]Tile{}
	for _, t := range h.Tiles {
		out[[2]int{t.X, t.Y}] = t
	}
	return out
}

func (h *Heat) label(t Tile) string {
	if t.Text != "" {
		return shown(t.Text)
	}
	return h.Z.written(t.Z)
}

// scale is from where to where the colours go.
func (h *Heat) scale() (least, most float64) {
	for _, t := range h.Tiles {
		least, most = math.Min(least, t.Z), math.Max(most, t.Z)
	}
	if h.Z.Share {
		most = math.Max(most, 1)
	}
	if most <= least {
		most = least + 1
	}
	return least, most
}

// step is the ink of a value, by its number.
func (h *Heat) step(z float64) int {
	least, most := h.scale()
	return min(int((z-least)/(most-least)*float64(len(heatInks))), len(heatInks)-1)
}

func (h *Heat) legend() []entry {
	least, most := h.scale()
	const stepWide = 16
	bar := func(c draw.Canvas) {
		for n, i := range heatInks {
			fill(c, i.RGBA, rect(c.Min.X+vg.Length(n)*stepWide, c.Min.Y, stepWide, thumbHigh))
		}
		outline(c, mutedInk.RGBA, c.Rectangle)
	}
	out := []entry{
		{name: h.Z.Label + "  " + h.Z.written(least)},
		{name: h.Z.written(most), wide: vg.Length(len(heatInks) * stepWide), thumb: bar},
	}
	if len(h.Tiles) < len(h.X.Names)*len(h.Y.Names) {
		out = append(out, entry{name: "no value", wide: 16, thumb: missing})
	}
	return out
}

// missing is how it looks where there is no value.
func missing(c draw.Canvas) {
	stroke(c, draw.LineStyle{Color: mutedInk.RGBA, Width: vg.Points(0.6)}, slashes.lines(nil, c.Rectangle))
	outline(c, mutedInk.RGBA, c.Rectangle)
}

func (h *Heat) height() vg.Length {
	return 34 + h.X.nameHigh(fontSize, chartWide) + vg.Length(len(h.Y.Names))*h.rowHigh()
}

func (h *Heat) rowHigh() vg.Length { return min(26, max(10, 260/vg.Length(len(h.Y.Names)))) }

func (h *Heat) draw(c draw.Canvas) {
	p := plot.New()
	p.BackgroundColor = nil
	h.X.bounds(&p.X)
	h.Y.bounds(&p.Y)
	h.X.across(&p.X, fontSize, chartWide)
	h.Y.upright(&p.Y, fontSize, vg.Length(len(h.Y.Names))*h.rowHigh())
	p.Draw(c)
	area := p.DataCanvas(c)
	wide, high := (area.Max.X-area.Min.X)/vg.Length(len(h.X.Names)), (area.Max.Y-area.Min.Y)/vg.Length(len(h.Y.Names))
	tiles := h.byPlace()
	for y := range h.Y.Names {
		for x := range h.X.Names {
			cell := area
			cell.Rectangle = rect(area.Min.X+vg.Length(x)*wide, area.Min.Y+vg.Length(y)*high, wide, high)
			if t, ok := tiles[[2]int{x, y}]; ok {
				h.tile(cell, t)
			} else {
				missing(cell)
			}
		}
	}
}

// tile draws one value, and writes it where it fits.
func (h *Heat) tile(c draw.Canvas, t Tile) {
	i := heatInks[h.step(t.Z)]
	fill(c, i.RGBA, c.Rectangle)
	s := textStyle(smallSize)
	s.Color, s.XAlign = i.textOn(), draw.XCenter
	label := h.label(t)
	if s.Width(label)+4 <= c.Max.X-c.Min.X && c.Max.Y-c.Min.Y >= smallSize+1 {
		c.FillText(s, vg.Point{X: c.Center().X, Y: c.Center().Y - 3.5}, label)
	}
}
