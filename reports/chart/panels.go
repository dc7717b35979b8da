package chart

import (
	"fmt"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Panels is a grid of small charts, two in a row, with the same X axis and scale. Lines of one
// name have the same style in all, and share one legend.
type Panels struct {
	Title  string
	X      Axis
	Y      Axis    // what they measure, with the same scale in all that have no Y of their own
	Panels []Panel // at most PanelsMax
}

// Panel is one of them.
type Panel struct {
	Title string
	Y     Axis   // with a label: what this one measures, with a scale of its own
	Lines []Line // at most LinesMax names in all panels together
}

// PanelsMax is how many panels a picture may have.
const PanelsMax = 24

// panelHigh is how high a panel is without what is around its axes.
const panelHigh = 104

func (p *Panels) heading() string { return p.Title }

func (p *Panels) check() error {
	if len(p.Panels) == 0 || len(p.Panels) > PanelsMax {
		return fmt.Errorf("%d panels, want 1 to %d", len(p.Panels), PanelsMax)
	}
	for _, panel := range p.Panels {
		if len(panel.Lines) == 0 {
			return fmt.Errorf("panel %q has no lines", shown(panel.Title))
		}
		seen := map[string]bool{}
		for _, l := range panel.Lines {
			if err := l.check(); err != nil {
				return fmt.Errorf("panel %q: %w", shown(panel.Title), err)
			}
			if seen[l.Name] {
				return fmt.Errorf("panel %q has two lines %q", shown(panel.Title), shown(l.Name))
			}
			seen[l.Name] = true
		}
	}
	if n := len(p.names()); n > LinesMax {
		return fmt.Errorf("%d names of lines, want at most %d", n, LinesMax)
	}
	return nil
}

// names of lines in the order in which they come.
func (p *Panels) names() []string {
	var out []string
	for _, panel := range p.Panels {
		for _, l := range panel.Lines {
			if !slices.Contains(out, l.Name) {
				out = append(out, l.Name)
			}
		}
	}
	return out
}

func (p *Panels) table() drawing {
	t := drawing{Kind: "panels", Columns: append([]string{"panel", "unit", "line"}, lineColumns(p.X, Axis{Label: "value"})...)}
	for _, panel := range p.Panels {
		y, _ := p.y(panel)
		for _, l := range panel.Lines {
			for _, row := range l.rows(p.X) {
				t.Rows = append(t.Rows, append([]any{panel.Title, y.column(""), l.Name}, row...))
			}
		}
	}
	return t
}

func (p *Panels) legend() []entry {
	if names := p.names(); len(names) > 1 {
		return lineEntries(names)
	}
	return nil
}

func (p *Panels) grid() (rows, cols int) {
	cols = min(len(p.Panels), 2)
	return (len(p.Panels) + cols - 1) / cols, cols
}

// y is what a panel measures, and whether only it does.
func (p *Panels) y(panel Panel) (axis Axis, own bool) {
	if panel.Y.Label != "" {
		return panel.Y, true
	}
	return p.Y, false
}

func (p *Panels) height() vg.Length {
	rows, cols := p.grid()
	return vg.Length(rows)*(panelHigh+panelRow+p.X.nameHigh(smallSize, vg.Length(chartWide/cols))) + 30
}

const panelRow = smallSize + 6 // a panel's title

func (p *Panels) draw(c draw.Canvas) {
	rows, cols := p.grid()
	plots := make([][]*plot.Plot, rows)
	for r := range plots {
		plots[r] = make([]*plot.Plot, cols)
	}
	for n, panel := range p.Panels {
		plots[n/cols][n%cols] = p.plot(panel, n+cols >= len(p.Panels), n%cols == 0)
	}
	p.share(plots, cols)
	tiles := draw.Tiles{Rows: rows, Cols: cols, PadX: vg.Points(8), PadY: vg.Points(panelRow), PadTop: vg.Points(panelRow), PadRight: vg.Points(2)}
	at := plot.Align(plots, tiles, c)
	s := textStyle(smallSize)
	for n, panel := range p.Panels {
		r, col := n/cols, n%cols
		plots[r][col].Draw(at[r][col])
		area := plots[r][col].DataCanvas(at[r][col])
		title := panel.Title
		if _, own := p.y(panel); own {
			title += " (" + panel.Y.Label + ")"
		}
		c.FillText(s, vg.Point{X: at[r][col].Min.X + 2, Y: area.Max.Y + 5}, cut(title, area.Max.X-at[r][col].Min.X, s))
	}
}

// plot of one panel. Only the lowest of a column says what X is, and only the first
// of a row what Y is; a Y of its own is in its title.
func (p *Panels) plot(panel Panel, lowest, first bool) *plot.Plot {
	x := p.X
	y, own := p.y(panel)
	if !lowest {
		x.Label = ""
	}
	if !first || own {
		y.Label = ""
	}
	_, cols := p.grid()
	out := lineplot(x, y, smallSize, vg.Length(chartWide/cols), panelHigh)
	names := p.names()
	for _, l := range panel.Lines {
		n := slices.Index(names, l.Name)
		out.Add(lineplotter{l, styleOf(n), n, len(names)})
	}
	return out
}

// share the scale of X, and of Y with those that measure the same.
func (p *Panels) share(plots [][]*plot.Plot, cols int) {
	of := func(n int) *plot.Plot { return plots[n/cols][n%cols] }
	for n, panel := range p.Panels {
		_, alone := p.y(panel)
		for m, other := range p.Panels {
			a, b := of(n), of(m)
			a.X.Min, a.X.Max = min(a.X.Min, b.X.Min), max(a.X.Max, b.X.Max)
			if _, own := p.y(other); !own && !alone {
				a.Y.Min, a.Y.Max = min(a.Y.Min, b.Y.Min), max(a.Y.Max, b.Y.Max)
			}
		}
	}
	for n, panel := range p.Panels {
		y, _ := p.y(panel)
		p.X.bounds(&of(n).X)
		y.bounds(&of(n).Y)
		headroom(&of(n).Y)
	}
}
