package chart

import (
	"fmt"
	"image/color"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Bars are values by name, from the top, each with a whisker if it has one.
type Bars struct {
	Title string
	X     Axis
	Bars  []Bar // at most BarsMax
}

// Bar is one of them. Low and High are what the value may well be instead; equal
// ones are no whisker.
type Bar struct {
	Name             string
	Value, Low, High float64
}

// BarsMax is how many bars a picture may have.
const BarsMax = 60

func (b *Bars) heading() string { return b.Title }

func (b *Bars) check() error {
	if len(b.Bars) == 0 || len(b.Bars) > BarsMax {
		return fmt.Errorf("%d bars, want 1 to %d", len(b.Bars), BarsMax)
	}
	for _, bar := range b.Bars {
		if err := finite(bar.Value, bar.Low, bar.High); err != nil {
			return fmt.Errorf("bar %q: %w", shown(bar.Name), err)
		}
		if bar.Low > bar.High {
			return fmt.Errorf("bar %q: from %v down to %v", shown(bar.Name), bar.Low, bar.High)
		}
	}
	return nil
}

func (b *Bars) table() drawing {
	t := drawing{Kind: "bars", Columns: []string{"name", b.X.column("value"), "low", "high"}}
	for _, bar := range b.Bars {
		row := []any{bar.Name, b.X.value(bar.Value), nil, nil}
		if bar.Low < bar.High {
			row[2], row[3] = bar.Low, bar.High
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

func (b *Bars) legend() []entry   { return nil }
func (b *Bars) height() vg.Length { return 34 + vg.Length(len(b.Bars))*barHigh }

const barHigh = 20

func (b *Bars) draw(c draw.Canvas) {
	names := Axis{} // from the bottom, as an axis counts
	for _, bar := range slices.Backward(b.Bars) {
		names.Names = append(names.Names, bar.Name)
	}
	p := lineplot(b.X, names, fontSize, chartWide*0.7, vg.Length(len(b.Bars))*barHigh)
	for _, bar := range b.Bars {
		p.X.Min, p.X.Max = min(p.X.Min, bar.Value), max(p.X.Max, bar.Value)
		if bar.Low < bar.High {
			p.X.Min, p.X.Max = min(p.X.Min, bar.Low), max(p.X.Max, bar.High)
		}
	}
	b.X.bounds(&p.X)
	names.bounds(&p.Y)
	p.X.Max += 0.14 * (p.X.Max - p.X.Min)
	p.Draw(c)
	area := p.DataCanvas(c)
	b.bars(area, p)
}

func (b *Bars) bars(area draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&area)
	s := textStyle(smallSize)
	for n, bar := range b.Bars {
		mid, end := y(float64(len(b.Bars)-1-n)), x(bar.Value)
		from, to := min(x(0), end), max(x(0), end)
		fill(area, lineInks[3].RGBA, rect(from, mid-barHigh*0.3, to-from, barHigh*0.6))
		if bar.Low < bar.High {
			low, high := x(bar.Low), x(bar.High)
			w := draw.LineStyle{Color: color.Black, Width: vg.Points(1.2)}
			area.StrokeLines(w, []vg.Point{{X: low, Y: mid}, {X: high, Y: mid}},
				[]vg.Point{{X: low, Y: mid - 4}, {X: low, Y: mid + 4}}, []vg.Point{{X: high, Y: mid - 4}, {X: high, Y: mid + 4}})
			to = max(to, high)
		}
		area.FillText(s, vg.Point{X: to + 4, Y: mid - 3.5}, b.X.written(bar.Value))
	}
}
