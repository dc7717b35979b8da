package chart

import (
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// inkPattern is the colour and pattern of an owner's blocks.
type inkPattern struct {
	ink
	pattern
}

// inkPatternOf returns colour and pattern of the nth owner: six colours in turns, repeated after
// twelve owners. Hues of one lightness never have the same pattern, so any two of the twelve
// differ in greyscale.
func inkPatternOf(n int) inkPattern {
	n %= ownersDistinct
	hue := n % len(ownerInks)
	return inkPattern{ownerInks[hue], patterned[hue/3+n/len(ownerInks)*2]}
}

// lines of the pattern on the ink.
func (l inkPattern) lines() draw.LineStyle {
	return draw.LineStyle{Color: faint(l.textOn(), 0x8c), Width: vg.Points(0.8)}
}

func (l inkPattern) area(c draw.Canvas, pale bool, some ...vg.Rectangle) {
	if pale {
		fill(c, faint(l.RGBA, 0x50), some...)
	} else {
		fill(c, l.RGBA, some...)
	}
	var path vg.Path
	for _, r := range some {
		path = l.pattern.lines(path, r)
	}
	stroke(c, l.lines(), path)
}

// dots marks a borrowed block.
var dots = draw.LineStyle{Width: vg.Points(1.5), Dashes: []vg.Length{1.5, 2.5}}

// legend lists the owners in the picture; owners with the same colour and pattern share an entry.
func (o *Owners) legend() []entry {
	there := make([]bool, len(o.Nodes)+1)
	marks := [Borrowed + 1]bool{}
	for _, r := range o.runs() {
		there[r.owner] = true
		marks[r.mark] = true
	}
	shared := make([][]string, ownersDistinct)
	for n, name := range o.Nodes {
		if there[n+1] {
			shared[n%ownersDistinct] = append(shared[n%ownersDistinct], shown(name))
		}
	}
	var out []entry
	for n, names := range shared {
		if len(names) > 0 {
			out = append(out, entry{name: cut(strings.Join(names, ", "), sharedWide, textStyle(fontSize)), wide: 16, thumb: func(c draw.Canvas) {
				inkPatternOf(n).area(c, false, c.Rectangle)
			}})
		}
	}
	if there[0] {
		out = append(out, entry{name: "nobody's", wide: 16, thumb: func(c draw.Canvas) { outline(c, mutedInk.RGBA, c.Rectangle) }})
	}
	if marks[Empty] {
		out = append(out, entry{name: "faint: empty", wide: 16, thumb: func(c draw.Canvas) { inkPatternOf(0).area(c, true, c.Rectangle) }})
	}
	if marks[Borrowed] {
		out = append(out, entry{name: "borrowed from", wide: 16, thumb: func(c draw.Canvas) {
			c.StrokeLine2(dots, c.Min.X, c.Center().Y, c.Max.X, c.Center().Y)
		}})
	}
	return out
}

// sharedWide is the width of a legend entry with several names.
const sharedWide = 170

func (o *Owners) draw(c draw.Canvas) {
	p := plot.New()
	p.BackgroundColor = nil
	o.X.across(&p.X, fontSize, chartWide*0.8)
	Axis{}.dress(&p.Y, fontSize, 0)
	p.X.Min, p.X.Max = o.edge(0), o.edge(len(o.Times))
	p.Y.Min, p.Y.Max = 0, float64(len(o.Blocks))
	p.Y.Tick.Marker = plot.ConstantTicks(o.blockTicks())
	p.Draw(c)
	area := p.DataCanvas(c)
	x, y := p.Transforms(&area)
	gap := vg.Length(0) // between blocks, where they are high enough
	if o.rowHigh() > 5 {
		gap = 1
	}
	at := func(r run) vg.Rectangle {
		top := y(float64(len(o.Blocks) - r.block))
		return rect(x(r.from), top-o.rowHigh()+gap, x(r.to)-x(r.from), o.rowHigh()-gap)
	}
	runs := o.runs()
	areas := map[[2]int32][]vg.Rectangle{} // by owner and whether it is empty
	for _, r := range runs {
		key := [2]int32{r.owner, 0}
		if r.mark == Empty {
			key[1] = 1
		}
		areas[key] = append(areas[key], at(r))
	}
	for n := range o.Nodes {
		inkPatternOf(n).area(area, false, areas[[2]int32{int32(n) + 1, 0}]...)
		inkPatternOf(n).area(area, true, areas[[2]int32{int32(n) + 1, 1}]...)
	}
	var borrowed vg.Path
	for _, r := range runs {
		if box := at(r); r.mark == Borrowed {
			borrowed.Move(vg.Point{X: box.Min.X, Y: box.Min.Y + 1})
			borrowed.Line(vg.Point{X: box.Max.X, Y: box.Min.Y + 1})
		}
	}
	stroke(area, dots, borrowed)
	for _, r := range runs {
		if r.owner > 0 {
			o.name(area, r, at(r))
		}
	}
}

// name an owner in its area, where it fits.
func (o *Owners) name(c draw.Canvas, r run, box vg.Rectangle) {
	s := textStyle(smallSize)
	name := shown(o.Nodes[r.owner-1])
	w := s.Width(name)
	if box.Max.Y-box.Min.Y < smallSize || w+8 > box.Max.X-box.Min.X {
		return
	}
	l := inkPatternOf(int(r.owner) - 1)
	mid := (box.Min.Y + box.Max.Y) / 2
	if r.mark == Empty {
		c.FillText(s, vg.Point{X: box.Min.X + 4, Y: mid - 3.5}, name)
		return
	}
	fill(c, l.RGBA, rect(box.Min.X+2, mid-smallSize/2, w+4, smallSize))
	s.Color = l.textOn()
	c.FillText(s, vg.Point{X: box.Min.X + 4, Y: mid - 3.5}, name)
}

// blockTicks name as many blocks as there is room for, at equal distances.
func (o *Owners) blockTicks() []plot.Tick {
	most := max(1, int(float64(len(o.Blocks))*float64(o.rowHigh())/(fontSize+1)))
	every := (len(o.Blocks) + most - 1) / most
	var out []plot.Tick
	for b := 0; b < len(o.Blocks); b += every {
		out = append(out, plot.Tick{Value: float64(len(o.Blocks)-b) - 0.5, Label: cut(o.Blocks[b], 100, textStyle(smallSize))})
	}
	slices.Reverse(out)
	return out
}
