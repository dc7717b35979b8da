package chart

import (
	"cmp"
	"slices"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// direct are names of lines at their ends, which are read faster than a legend.
type direct struct {
	room  vg.Length // that they take, to the right
	names []string  // by line
	up    []vg.Length
}

const (
	directWide = 84 // the longest name that is put there
	directMove = 9  // how far a name may be from the end of its line
	directRow  = fontSize + 0.5
)

// direct names for the lines of a chart; nil if they do not fit: a name is long, or
// too many lines end at about the same height, or one ends before the others.
func (c *Chart) direct() *direct {
	if len(c.Lines) < 2 {
		return nil
	}
	d := &direct{up: make([]vg.Length, len(c.Lines))}
	s := textStyle(fontSize)
	for _, l := range c.Lines {
		if l.Points[len(l.Points)-1].X != c.Lines[0].Points[len(c.Lines[0].Points)-1].X {
			return nil
		}
		name := shown(l.Name)
		w := s.Width(name)
		if w > directWide || name == "" {
			return nil
		}
		d.room = max(d.room, w+8)
		d.names = append(d.names, name)
	}
	p := c.plot()
	area := p.DataCanvas(draw.Canvas{Rectangle: rect(margin, 0, bodyWide-d.room, c.height())})
	_, y := p.Transforms(&area)
	order := make([]int, len(c.Lines))
	for n, l := range c.Lines {
		order[n], d.up[n] = n, y(l.Points[len(l.Points)-1].Y)
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(d.up[a], d.up[b]) })
	for i, n := range order {
		end := d.up[n]
		if i > 0 {
			d.up[n] = max(end, d.up[order[i-1]]+directRow)
		}
		if d.up[n]-end > directMove {
			return nil
		}
	}
	return d
}

func (d *direct) draw(area draw.Canvas, lines []Line) {
	s := textStyle(fontSize)
	for n := range lines {
		s.Color = styleOf(n).RGBA
		area.FillText(s, vg.Point{X: area.Max.X + 6, Y: d.up[n] - 4}, d.names[n])
	}
}
