package chart

import (
	"image/color"
	"math"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// pattern of an area: parallel lines of one or two directions, at the same places
// wherever the area is, so that areas side by side join.
type pattern struct {
	name  string
	steep []vg.Length // of the lines: 1 rises, -1 falls
	gap   vg.Length   // between two, along X
}

var (
	blank     = pattern{name: "plain"}
	slashes   = pattern{"rising", []vg.Length{1}, 5}
	backs     = pattern{"falling", []vg.Length{-1}, 5}
	crosses   = pattern{"crossed", []vg.Length{1, -1}, 6}
	patterned = []pattern{blank, slashes, backs, crosses}
)

// lines of the pattern within a rectangle, appended to a path.
func (p pattern) lines(path vg.Path, r vg.Rectangle) vg.Path {
	for _, steep := range p.steep {
		// y = steep·(x−x0), with x0 a multiple of gap.
		a, b := r.Min.X-steep*r.Min.Y, r.Min.X-steep*r.Max.Y
		from, to := min(a, b), max(a, b)+r.Max.X-r.Min.X
		for n := math.Ceil(float64(from / p.gap)); vg.Length(n)*p.gap < to; n++ {
			x0 := vg.Length(n) * p.gap
			// Where it enters and leaves the rectangle's height, and then its width.
			x1, x2 := x0+steep*r.Min.Y, x0+steep*r.Max.Y
			if x1 > x2 {
				x1, x2 = x2, x1
			}
			if x1, x2 = max(x1, r.Min.X), min(x2, r.Max.X); x1 < x2 {
				path.Move(vg.Point{X: x1, Y: steep * (x1 - x0)})
				path.Line(vg.Point{X: x2, Y: steep * (x2 - x0)})
			}
		}
	}
	return path
}

func rect(x, y, w, h vg.Length) vg.Rectangle {
	return vg.Rectangle{Min: vg.Point{X: x, Y: y}, Max: vg.Point{X: x + w, Y: y + h}}
}

func fill(c draw.Canvas, colour color.Color, some ...vg.Rectangle) {
	if len(some) == 0 {
		return
	}
	var path vg.Path
	for _, r := range some {
		path = append(path, r.Path()...)
	}
	c.SetColor(colour)
	c.Fill(path)
}

func stroke(c draw.Canvas, s draw.LineStyle, path vg.Path) {
	if len(path) > 0 {
		c.SetLineStyle(s)
		c.Stroke(path)
	}
}

func outline(c draw.Canvas, colour color.Color, r vg.Rectangle) {
	stroke(c, draw.LineStyle{Color: colour, Width: vg.Points(0.5)}, r.Path())
}
