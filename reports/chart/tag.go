package chart

import (
	"cmp"
	"slices"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// tag is a name beside its point.
type tag struct {
	name string
	box  vg.Rectangle
	from vg.Point // a thin line leads there if the name is far away
	far  bool
}

const (
	tagWide = 130 // the longest name
	tagHigh = smallSize + 1
)

// place names beside their points so that none lies on another, on a point, or
// outside: what is recommended first, then the front, then the rest, in their order.
// Each takes the first free place of those around its point, nearer ones first; one
// that finds none is left out.
func (p *Pareto) place(at []vg.Point, area vg.Rectangle) []tag {
	front := p.Front()
	order := make([]int, len(p.Points))
	for n := range order {
		order[n] = n
	}
	rank := func(n int) int {
		switch {
		case p.Points[n].Recommended:
			return 0
		case front[n]:
			return 1
		}
		return 2
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(rank(a), rank(b)) })
	var taken []vg.Rectangle
	for n, pt := range at {
		r := vg.Length(optionRadius)
		if p.Points[n].Recommended {
			r = recommendedRadius
		}
		taken = append(taken, vg.Rectangle{Min: vg.Point{X: pt.X - r, Y: pt.Y - r}, Max: vg.Point{X: pt.X + r, Y: pt.Y + r}})
	}
	var out []tag
	for _, n := range order {
		t := tag{name: cut(p.Points[n].Name, tagWide, textStyle(smallSize)), from: at[n]}
		if t.name != "" && t.find(area, taken, p.Points[n].Recommended) {
			out, taken = append(out, t), append(taken, t.box)
		}
	}
	return out
}

// find a free place.
func (t *tag) find(area vg.Rectangle, taken []vg.Rectangle, recommended bool) bool {
	w := textStyle(smallSize).Width(t.name)
	for _, gap := range []vg.Length{5, 14, 26, 40, 60} {
		far := gap > 5
		if !far && recommended {
			gap = recommendedRadius + 3
		}
		for _, side := range []vg.Point{{X: 1, Y: 0}, {X: 1, Y: 1}, {X: -1, Y: 0}, {X: 1, Y: -1}, {X: -1, Y: 1}, {X: -1, Y: -1}, {X: 0, Y: 1}, {X: 0, Y: -1}} {
			mid := vg.Point{X: t.from.X + side.X*(gap+w/2), Y: t.from.Y + side.Y*gap}
			if side.Y != 0 && !far {
				mid.Y += side.Y * 4
			}
			box := vg.Rectangle{Min: vg.Point{X: mid.X - w/2, Y: mid.Y - tagHigh/2}, Max: vg.Point{X: mid.X + w/2, Y: mid.Y + tagHigh/2}}
			if box.Min.X >= area.Min.X && box.Max.X <= area.Max.X && box.Min.Y >= area.Min.Y && box.Max.Y <= area.Max.Y &&
				!slices.ContainsFunc(taken, func(r vg.Rectangle) bool { return overlap(box, r) }) {
				t.box, t.far = box, far
				return true
			}
		}
	}
	return false
}

func overlap(a, b vg.Rectangle) bool {
	return a.Min.X < b.Max.X && b.Min.X < a.Max.X && a.Min.Y < b.Max.Y && b.Min.Y < a.Max.Y
}

func (t tag) draw(c draw.Canvas) {
	if t.far {
		to := vg.Point{X: min(max(t.from.X, t.box.Min.X), t.box.Max.X), Y: min(max(t.from.Y, t.box.Min.Y), t.box.Max.Y)}
		c.StrokeLines(draw.LineStyle{Color: mutedInk.RGBA, Width: vg.Points(0.6)}, []vg.Point{t.from, to})
	}
	c.FillText(textStyle(smallSize), vg.Point{X: t.box.Min.X, Y: t.box.Min.Y + 2.5}, t.name)
}
