package chart

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// check a line: it has points, and every value can be drawn.
func (l Line) check() error {
	if len(l.Points) == 0 {
		return fmt.Errorf("line %q has no points", shown(l.Name))
	}
	for _, p := range l.Points {
		if err := finite(p.X, p.Y); err != nil {
			return fmt.Errorf("line %q: %w", shown(l.Name), err)
		}
	}
	for _, r := range l.Band {
		if err := finite(r.X, r.Low, r.High); err != nil {
			return fmt.Errorf("band of line %q: %w", shown(l.Name), err)
		}
		if r.Low > r.High {
			return fmt.Errorf("band of line %q: from %v down to %v", shown(l.Name), r.Low, r.High)
		}
	}
	return nil
}

func lineColumns(x, y Axis) []string { return []string{x.column("x"), y.column("y"), "low", "high"} }

// rows of a line, ascending in X, each with the value and the band that are there.
func (l Line) rows(x Axis) [][]any {
	type row struct {
		x            float64
		y, low, high any
	}
	var all []row
	at := map[float64]int{} // the first point with this X
	for n, p := range l.Points {
		if _, before := at[p.X]; !before {
			at[p.X] = n
		}
		all = append(all, row{p.X, p.Y, nil, nil})
	}
	for _, r := range l.Band {
		if n, ok := at[r.X]; ok && all[n].low == nil {
			all[n].low, all[n].high = r.Low, r.High
			continue
		}
		all = append(all, row{r.X, nil, r.Low, r.High})
	}
	slices.SortStableFunc(all, func(a, b row) int { return cmp.Compare(a.x, b.x) })
	var out [][]any
	for _, r := range all {
		out = append(out, []any{x.value(r.x), r.y, r.low, r.high})
	}
	return out
}

// lineplot is an empty plot with a grid and these axes, about so large.
func lineplot(x, y Axis, size, wide, high vg.Length) *plot.Plot {
	p := plot.New()
	p.BackgroundColor = nil
	grid := plotter.NewGrid()
	grid.Vertical.Color, grid.Horizontal.Color = gridInk.RGBA, gridInk.RGBA
	p.Add(grid)
	x.across(&p.X, size, wide)
	y.upright(&p.Y, size, high)
	return p
}

// lineplotter draws a line: its band, the band's borders, itself, some markers.
type lineplotter struct {
	Line
	style
	n, of int // which line of how many
}

// DataRange is that of the line and its band.
func (l lineplotter) DataRange() (xmin, xmax, ymin, ymax float64) {
	xmin, xmax, ymin, ymax = math.Inf(1), math.Inf(-1), math.Inf(1), math.Inf(-1)
	see := func(x, low, high float64) {
		xmin, xmax = math.Min(xmin, x), math.Max(xmax, x)
		ymin, ymax = math.Min(ymin, low), math.Max(ymax, high)
	}
	for _, p := range l.Points {
		see(p.X, p.Y, p.Y)
	}
	for _, r := range l.Band {
		see(r.X, r.Low, r.High)
	}
	return xmin, xmax, ymin, ymax
}

// Plot implements plot.Plotter.
func (l lineplotter) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	at := func(px, py float64) vg.Point { return vg.Point{X: x(px), Y: y(py)} }
	var low, high, line []vg.Point
	for _, r := range l.Band {
		low, high = append(low, at(r.X, r.Low)), append(high, at(r.X, r.High))
	}
	for _, pt := range l.Points {
		line = append(line, at(pt.X, pt.Y))
	}
	if l.Steps {
		low, high, line = stairs(low), stairs(high), stairs(line)
	}
	if len(low) > 0 {
		around := slices.Clone(low)
		for _, pt := range slices.Backward(high) {
			around = append(around, pt)
		}
		c.FillPolygon(faint(l.RGBA, 0x26), around)
		c.StrokeLines(l.border(), low, high)
	}
	c.StrokeLines(l.line(), line)
	for _, pt := range some(l.Points, l.n, l.of) {
		c.DrawGlyphNoClip(l.marker(), at(pt.X, pt.Y))
	}
}

// stairs of points: each height holds until the next point.
func stairs(points []vg.Point) []vg.Point {
	var out []vg.Point
	for n, pt := range points {
		if n > 0 {
			out = append(out, vg.Point{X: pt.X, Y: points[n-1].Y})
		}
		out = append(out, pt)
	}
	return out
}

// some of the points bear a marker: all of a few; of many some at equal distances,
// which are not the same for each line, so that one sees lines that lie on each other.
func some(all []Point, line, lines int) []Point {
	const marksMax = 6
	if len(all) <= marksMax {
		return all
	}
	out := make([]Point, marksMax)
	for i := range out {
		out[i] = all[max(((i+1)*lines-line)*len(all)/(marksMax*lines)-1, 0)] // of hardly more than marksMax the last line's first mark
	}
	return out
}

// lineEntries are a legend of lines in the order of their styles.
func lineEntries(names []string) []entry {
	var out []entry
	for n, name := range names {
		s := styleOf(n)
		out = append(out, entry{name: name, thumb: func(c draw.Canvas) {
			y := c.Center().Y
			c.StrokeLine2(s.line(), c.Min.X, y, c.Max.X, y)
			c.DrawGlyphNoClip(s.marker(), c.Center())
		}})
	}
	return out
}
