package chart

import (
	"cmp"
	"math"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
)

// Axis says what is measured and in which unit. Zero is on it.
type Axis struct {
	Label string
	// At most one of these; with none, values are numbers.
	Duration bool     // seconds, written as 30s, 5m, 2h, 7d
	Whole    bool     // there is nothing between one and two
	Share    bool     // parts of one: the axis goes from 0% to 100%
	Names    []string // the values 0, 1, 2, … are called so, and lie at equal distances
}

// ticks along an axis with room for so many labels; names are dressed by themselves.
func (a Axis) ticks(most int) plot.Ticker {
	return plot.TickerFunc(func(from, to float64) []plot.Tick {
		switch {
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

// written is a value in a few letters, rounded.
func (a Axis) written(v float64) string {
	switch {
	case a.Duration:
		return longish(v)
	case a.Share:
		return percent(v)
	}
	return number(v)
}

// value returns a value for a table: the name if the axis has names.
func (a Axis) value(v float64) any {
	if n := int(v); a.Names != nil && float64(n) == v && n >= 0 && n < len(a.Names) {
		return a.Names[n]
	}
	return v
}

// column is the head of an axis in a table.
func (a Axis) column(otherwise string) string {
	name := cmp.Or(a.Label, otherwise)
	if a.Duration {
		name += " (seconds)"
	}
	return name
}

// bounds of an axis around its values and zero.
func (a Axis) bounds(to *plot.Axis) {
	if a.Names != nil {
		to.Min, to.Max = -0.5, float64(len(a.Names))-0.5
		return
	}
	to.Min, to.Max = math.Min(to.Min, 0), math.Max(to.Max, 0)
	if a.Share {
		to.Max = math.Max(to.Max, 1)
	}
	if to.Max <= to.Min {
		to.Max = to.Min + 1
	}
}

// across dresses a horizontal axis that is so long.
func (a Axis) across(to *plot.Axis, size, long vg.Length) {
	a.dress(to, size, long)
	to.Tick.Marker = a.ticks(int(long / 54))
	if a.Names == nil {
		return
	}
	slot, s := long/vg.Length(len(a.Names)), textStyle(size-0.5)
	every := 1
	if slot < 26 { // too narrow for names: label only some
		for _, name := range a.Names {
			every = max(every, int((min(s.Width(shown(name)), 60)+5)/slot)+1)
		}
	}
	to.Tick.Marker = named(len(a.Names), every, func(n int) string {
		return strings.Join(wrap(a.Names[n], slot*vg.Length(every)-3, s, nameLines), "\n")
	})
}

// nameLines is how many lines a name under an axis may have.
const nameLines = 3

// nameHigh is how much higher than one line the names under an axis are.
func (a Axis) nameHigh(size, long vg.Length) vg.Length {
	lines := 1
	for _, name := range a.Names {
		if slot := long / vg.Length(len(a.Names)); slot >= 26 {
			lines = max(lines, len(wrap(name, slot-3, textStyle(size-0.5), nameLines)))
		}
	}
	return vg.Length(lines-1) * size * 1.15
}

// upright dresses a vertical axis that is so long.
func (a Axis) upright(to *plot.Axis, size, long vg.Length) {
	a.dress(to, size, long)
	to.Tick.Marker = a.ticks(max(2, int(long/26)))
	if a.Names == nil {
		return
	}
	every := max(1, int((size+1)/(long/vg.Length(len(a.Names))))+1)
	if vg.Length(len(a.Names))*(size+1) <= long {
		every = 1
	}
	to.Tick.Marker = named(len(a.Names), every, func(n int) string { return cut(a.Names[n], nameWide, textStyle(size-0.5)) })
}

// nameWide is the longest name beside an axis.
const nameWide = 130

func (a Axis) dress(to *plot.Axis, size, long vg.Length) {
	to.Label.Text, to.Label.Padding = cut(a.Label, long, textStyle(size)), vg.Points(3)
	to.Label.TextStyle.Font, to.Tick.Label.Font = textStyle(size).Font, textStyle(size-0.5).Font
	to.LineStyle.Width, to.Tick.LineStyle.Width, to.Padding = vg.Points(0.75), vg.Points(0.75), 0
}

// headroom above the highest value, so that a line at the top is seen whole.
func headroom(a *plot.Axis) { a.Max += 0.05 * (a.Max - a.Min) }
