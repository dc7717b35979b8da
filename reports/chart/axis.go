package chart

import (
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
)

// Axis says what is measured and in which unit. It begins at zero.
type Axis struct {
	Label string
	// At most one of these; with none, values are numbers.
	Duration bool     // seconds, written as 30s, 5m, 2h, 7d
	Whole    bool     // there is nothing between one and two
	Share    bool     // parts of one: the axis goes from 0% to 100%
	Names    []string // the values 0, 1, 2, … are called so, and lie at equal distances
}

// ticks along an axis with room for so many labels.
func (a Axis) ticks(most int) plot.Ticker {
	return plot.TickerFunc(func(from, to float64) []plot.Tick {
		switch {
		case a.Names != nil:
			return named(a.Names, most)
		case a.Duration:
			return durations(from, to, most)
		case a.Share:
			return shares(from, to, most)
		case a.Whole:
			return wholes(from, to, most)
		}
		return counts(from, to, most)
	})
}

// written is a value as a label.
func (a Axis) written(v float64) string {
	switch {
	case a.Names != nil:
		if n := int(v); float64(n) == v && n >= 0 && n < len(a.Names) {
			return shown(a.Names[n])
		}
	case a.Duration:
		return duration(v)
	case a.Share:
		return share(v)
	}
	return number(v)
}

// value as a table tells it: a name for a name.
func (a Axis) value(v float64) any {
	if n := int(v); a.Names != nil && float64(n) == v && n >= 0 && n < len(a.Names) {
		return a.Names[n]
	}
	return v
}

// column is the head of an axis in a table.
func (a Axis) column(otherwise string) string {
	name := a.Label
	if name == "" {
		name = otherwise
	}
	if a.Duration {
		name += " (seconds)"
	}
	return name
}

// bounds of an axis around values: they begin at zero.
func (a Axis) bounds(to *plot.Axis) {
	if a.Names != nil {
		to.Min, to.Max = -0.5, float64(len(a.Names))-0.5
		return
	}
	to.Min = math.Min(to.Min, 0)
	if a.Share {
		to.Max = math.Max(to.Max, 1)
	}
	if to.Max <= to.Min {
		to.Max = to.Min + 1
	}
}

// dress an axis of gonum's: its label, its ticks, its text.
func (a Axis) dress(to *plot.Axis, size vg.Length, most int) {
	to.Label.Text, to.Label.Padding = cut(a.Label, width*3/4, textStyle(size)), vg.Points(3)
	to.Label.TextStyle.Font, to.Tick.Label.Font = textStyle(size).Font, textStyle(size-0.5).Font
	to.LineStyle.Width, to.Tick.LineStyle.Width, to.Padding = vg.Points(0.75), vg.Points(0.75), 0
	to.Tick.Marker = a.ticks(most)
}

// headroom above the highest value, so that a line at the top is seen whole.
func headroom(a *plot.Axis) { a.Max += 0.05 * (a.Max - a.Min) }
