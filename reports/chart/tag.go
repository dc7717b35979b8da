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

// place names beside their points so that none lies on another, on a point, on the
// front's line, or outside: what is recommended first, then the front, then the rest,
// what fails last. Each takes the first free place of those around its point, nearer
// ones first; of many, the rest only near ones. One that finds none is left out.
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
		case p.Points[n].Fails:
			return 3
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
	line := p.stairs(at, area)
	for n := 1; n < len(line); n++ {
		a, b := line[n-1], line[n]
		taken = append(taken, vg.Rectangle{Min: vg.Point{X: min(a.X, b.X) - 1, Y: min(a.Y, b.Y) - 1}, Max: vg.Point{X: max(a.X, b.X) + 1, Y: max(a.Y, b.Y) + 1}})
	}
	var out []tag
	for _, n := range order {
		t := tag{name: cut(p.Points[n].Name, tagWide, textStyle(smallSize)), from: at[n]}
		gaps := []vg.Length{6, 14, 26, 40, 60, 90, 130}
		if rank(n) == 0 {
			gaps[0] = recommendedRadius + 3
		} else if rank(n) >= 2 && len(p.Points) > fewPoints {
			gaps = gaps[:2]
		}
		if t.name != "" && t.find(gaps, area, taken, out) {
			out, taken = append(out, t), append(append(taken, t.box), t.leader()...)
		}
	}
	return out
}

// fewPoints may all have their names far away: one can still see what belongs together.
const fewPoints = 16

// find a free place at one of these distances.
func (t *tag) find(gaps []vg.Length, area vg.Rectangle, taken []vg.Rectangle, others []tag) bool {
	w := textStyle(smallSize).Width(t.name)
	for _, gap := range gaps {
		t.far = gap > 10
		for _, side := range sides {
			mid := vg.Point{X: t.from.X + side.X*(gap+w/2), Y: t.from.Y + side.Y*gap}
			if side.Y != 0 && !t.far {
				mid.Y += side.Y * 4
			}
			t.box = rect(mid.X-w/2, mid.Y-tagHigh/2, w, tagHigh)
			if t.box.Min.X >= area.Min.X && t.box.Max.X <= area.Max.X && t.box.Min.Y >= area.Min.Y && t.box.Max.Y <= area.Max.Y && t.free(taken, others) {
				return true
			}
		}
	}
	return false
}

// sides of a point, those first where one reads on.
var sides = []vg.Point{
	{X: 1, Y: 0}, {X: 1, Y: 1}, {X: -1, Y: 0}, {X: 1, Y: -1}, {X: -1, Y: 1}, {X: -1, Y: -1},
	{X: 0, Y: 1}, {X: 0, Y: -1}, {X: 1, Y: 0.5}, {X: 1, Y: -0.5}, {X: -1, Y: 0.5}, {X: -1, Y: -0.5},
}

// free says whether the name lies on nothing, and its line on no other name.
func (t *tag) free(taken []vg.Rectangle, others []tag) bool {
	if slices.ContainsFunc(taken, func(r vg.Rectangle) bool { return overlap(t.box, r) }) {
		return false
	}
	return !slices.ContainsFunc(t.leader(), func(spot vg.Rectangle) bool {
		return slices.ContainsFunc(others, func(o tag) bool { return overlap(spot, o.box) })
	})
}

// end of the line that leads from a name to its point.
func (t *tag) end() vg.Point {
	return vg.Point{X: min(max(t.from.X, t.box.Min.X), t.box.Max.X), Y: min(max(t.from.Y, t.box.Min.Y), t.box.Max.Y)}
}

// leader is that line as spots; none if the name is near.
func (t *tag) leader() []vg.Rectangle {
	if !t.far {
		return nil
	}
	const spots = 16
	var out []vg.Rectangle
	to := t.end()
	for n := range spots {
		part := vg.Length(n) / spots
		out = append(out, rect(t.from.X+(to.X-t.from.X)*part-1, t.from.Y+(to.Y-t.from.Y)*part-1, 2, 2))
	}
	return out
}

func overlap(a, b vg.Rectangle) bool {
	return a.Min.X < b.Max.X && b.Min.X < a.Max.X && a.Min.Y < b.Max.Y && b.Min.Y < a.Max.Y
}

func (t tag) draw(c draw.Canvas) {
	if t.far {
		c.StrokeLines(draw.LineStyle{Color: mutedInk.RGBA, Width: vg.Points(0.6)}, []vg.Point{t.from, t.end()})
	}
	c.FillText(textStyle(smallSize), vg.Point{X: t.box.Min.X, Y: t.box.Min.Y + 2.5}, t.name)
}
