package chart

import (
	"cmp"
	"fmt"
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Pareto shows options by two costs; less is better. The options that no other one beats in both
// form a staircase, the others are muted, and the recommended one is marked. Options that do not
// meet the requirements are crosses and do not count for the staircase.
type Pareto struct {
	Title  string
	X, Y   Axis
	Points []Named // at most PointsMax
}

// Named is an option.
type Named struct {
	Name        string
	X, Y        float64
	Recommended bool
	Fails       bool // it does not meet the requirements
}

// PointsMax is how many options a picture may have. As many names are written as
// there is room for, the front's first; the legend says how many are not.
const PointsMax = 400

func (p *Pareto) heading() string   { return p.Title }
func (p *Pareto) height() vg.Length { return chartHigh + 20 }

func (p *Pareto) check() error {
	if len(p.Points) == 0 || len(p.Points) > PointsMax {
		return fmt.Errorf("%d options, want 1 to %d", len(p.Points), PointsMax)
	}
	for _, o := range p.Points {
		if err := finite(o.X, o.Y); err != nil {
			return fmt.Errorf("option %q: %w", shown(o.Name), err)
		}
	}
	return nil
}

// Front says of each point whether it is on the front: no other is as good in one
// cost and better in the other, of those that do not fail; of all if all fail.
func (p *Pareto) Front() []bool {
	out := make([]bool, len(p.Points))
	some := slices.ContainsFunc(p.Points, func(o Named) bool { return !o.Fails })
	for n, a := range p.Points {
		out[n] = !(some && a.Fails) && !slices.ContainsFunc(p.Points, func(b Named) bool {
			return !(some && b.Fails) && b.X <= a.X && b.Y <= a.Y && (b.X < a.X || b.Y < a.Y)
		})
	}
	return out
}

func (p *Pareto) table() drawing {
	t := drawing{Kind: "pareto", Columns: []string{"option", p.X.column("x"), p.Y.column("y"), "front", "recommended", "fails"}}
	front := p.Front()
	for n, o := range p.Points {
		t.Rows = append(t.Rows, []any{o.Name, p.X.value(o.X), p.Y.value(o.Y), front[n], o.Recommended, o.Fails})
	}
	return t
}

func (p *Pareto) legend() []entry {
	front := p.Front()
	glyph := func(front bool, o Named) func(draw.Canvas) {
		return func(c draw.Canvas) { drawOption(c, front, &o, c.Center()) }
	}
	out := []entry{{name: "no option beats it in both", wide: 12, thumb: glyph(true, Named{Fails: !slices.ContainsFunc(p.Points, func(o Named) bool { return !o.Fails })})}}
	for n, o := range p.Points {
		if !front[n] && !o.Fails {
			out = append(out, entry{name: "beaten", wide: 12, thumb: glyph(false, Named{})})
			break
		}
	}
	if slices.ContainsFunc(p.Points, func(o Named) bool { return o.Fails }) {
		out = append(out, entry{name: "does not meet the requirements", wide: 12, thumb: glyph(false, Named{Fails: true})})
	}
	if i := slices.IndexFunc(p.Points, func(n Named) bool { return n.Recommended }); i >= 0 {
		out = append(out, entry{name: "recommended", wide: 16, thumb: glyph(front[i], p.Points[i])})
	}
	if n := p.unnamed(); n > 0 {
		out = append(out, entry{name: fmt.Sprintf("without room for a name: %d", n)})
	}
	return out
}

// unnamed is how many names have no room.
func (p *Pareto) unnamed() int {
	n := 0
	for _, o := range p.Points {
		if shown(o.Name) != "" {
			n++
		}
	}
	_, _, tags := p.layout(draw.Canvas{Rectangle: rect(margin, 0, bodyWide, p.height())})
	return n - len(tags)
}

// room of an axis beyond the last point, for its name.
func room(a Axis, to *plot.Axis) {
	a.bounds(to)
	if a.Names == nil {
		to.Max += 0.08 * (to.Max - to.Min)
	}
}

// layout of the picture in a canvas: its plot, where each point is, and the names.
func (p *Pareto) layout(c draw.Canvas) (*plot.Plot, []vg.Point, []tag) {
	g := p.plot()
	area := g.DataCanvas(c)
	x, y := g.Transforms(&area)
	at := make([]vg.Point, len(p.Points))
	for n, o := range p.Points {
		at[n] = vg.Point{X: x(o.X), Y: y(o.Y)}
	}
	return g, at, p.place(at, area.Rectangle)
}

func (p *Pareto) plot() *plot.Plot {
	out := lineplot(p.X, p.Y, fontSize, chartWide, p.height()-44)
	for _, o := range p.Points {
		out.X.Min, out.X.Max = math.Min(out.X.Min, o.X), math.Max(out.X.Max, o.X)
		out.Y.Min, out.Y.Max = math.Min(out.Y.Min, o.Y), math.Max(out.Y.Max, o.Y)
	}
	room(p.X, &out.X)
	room(p.Y, &out.Y)
	return out
}

func (p *Pareto) draw(c draw.Canvas) {
	g, at, tags := p.layout(c)
	g.Draw(c)
	c.StrokeLines(draw.LineStyle{Color: lineInks[0].RGBA, Width: vg.Points(1.2)}, p.stairs(at, g.DataCanvas(c).Rectangle))
	for n, front := range p.Front() {
		drawOption(c, front, &p.Points[n], at[n])
	}
	for _, t := range tags {
		t.draw(c)
	}
}

// stairs of the front, from the top of the area to its right side.
func (p *Pareto) stairs(at []vg.Point, area vg.Rectangle) []vg.Point {
	var on []vg.Point
	for n, front := range p.Front() {
		if front {
			on = append(on, at[n])
		}
	}
	slices.SortFunc(on, func(a, b vg.Point) int { return cmp.Or(cmp.Compare(a.X, b.X), cmp.Compare(b.Y, a.Y)) })
	on = append([]vg.Point{{X: on[0].X, Y: area.Max.Y}}, append(on, vg.Point{X: area.Max.X, Y: on[len(on)-1].Y})...)
	return stairs(on)
}

// drawOption is a disk on the front, a cross if it fails, a ring elsewhere, and one
// more ring around what is recommended.
func drawOption(c draw.Canvas, front bool, o *Named, at vg.Point) {
	ring := func(radius, wide vg.Length, colour color.Color) {
		var path vg.Path
		path.Move(vg.Point{X: at.X + radius, Y: at.Y})
		path.Arc(at, radius, 0, 2*math.Pi)
		path.Close()
		c.SetLineStyle(draw.LineStyle{Color: colour, Width: wide})
		c.Stroke(path)
	}
	switch {
	case o.Fails:
		cross := draw.LineStyle{Color: mutedInk.RGBA, Width: vg.Points(1.2)}
		if front {
			cross.Color = lineInks[0].RGBA
		}
		const r = optionRadius
		c.StrokeLine2(cross, at.X-r, at.Y-r, at.X+r, at.Y+r)
		c.StrokeLine2(cross, at.X-r, at.Y+r, at.X+r, at.Y-r)
	case front:
		c.DrawGlyphNoClip(draw.GlyphStyle{Color: lineInks[0].RGBA, Radius: optionRadius, Shape: draw.CircleGlyph{}}, at)
	default:
		ring(optionRadius-0.5, 1, mutedInk.RGBA)
	}
	if o.Recommended {
		ring(recommendedRadius, 1.8, lineInks[1].RGBA)
	}
}

const (
	optionRadius      = 3
	recommendedRadius = 6.5
)
