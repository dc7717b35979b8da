package render

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"ipamsim/reports/answer"
	"ipamsim/reports/answer/words"
	"ipamsim/reports/chart"
)

// plots returns the plots of an answer, which depend on its axes, options and results:
//
//	exhaustion   the chance that addresses have run out, over time: always
//	over-time    other quantities over time: if any is ever not 0
//	heat-…       a measure by two axes: with at least two axes
//	along-…      a measure along an axis
//	tradeoff     waste against routes: if both differ between rows
//	stranded     stranded addresses by row: if there are any
//	owners-…     the owner of each block over time in the median trial: small pools
//
// If there are many cells only some are drawn, and the caption says how many.
func (a *Answer) plots() (out []answer.Plot) {
	for _, draw := range []func() []answer.Plot{a.exhaustionOverTime, a.overTime, a.heatMaps, a.alongAxes, a.tradeoffs, a.strandedBars, a.ownership} {
		out = append(out, draw()...)
	}
	return out
}

// linesMax is the maximum number of lines that are distinguishable; bandsMax the maximum
// number of overlapping bands.
const (
	linesMax = chart.LinesMax
	bandsMax = 3
)

// withTrials returns the rows with trials.
func (a *Answer) withTrials() (rows []int) {
	for n := range a.Rows {
		if a.Rows[n].Trials > 0 {
			rows = append(rows, n)
		}
	}
	return rows
}

// drawn returns at most most rows to draw: the first one, the recommended ones, those that
// may meet the requirements, then the others. left says how many of all are drawn.
func (a *Answer) drawn(most int) (rows []int, left string) {
	all := a.withTrials()
	if len(all) <= most {
		return all, ""
	}
	rows = all[:1:1]
	add := func(n int) {
		if len(rows) < most && !slices.Contains(rows, n) {
			rows = append(rows, n)
		}
	}
	for _, r := range a.Recommended {
		if len(r.Rows) > 0 {
			add(r.Rows[0])
		}
	}
	for _, n := range slices.Concat(slices.DeleteFunc(slices.Clone(all), func(n int) bool { return a.Rows[n].Outcome() == answer.Breaks }), all) {
		add(n)
	}
	slices.Sort(rows)
	return rows, fmt.Sprintf(" %d of %d rows are drawn.", len(rows), len(all))
}

// without names a row without an axis, "" if nothing else names it.
func (a *Answer) without(n, axis int) string {
	r := answer.Row{Option: a.Rows[n].Option}
	var axes []answer.Axis
	for i := range min(len(a.Axes), len(a.Rows[n].Values)) {
		if i != axis {
			axes, r.Values = append(axes, a.Axes[i]), append(r.Values, a.Rows[n].Values[i])
		}
	}
	if r.Option == "" && len(axes) == 0 {
		return ""
	}
	return answer.NameOf(axes, &r)
}

// rowsBy groups the rows with trials by key, in order.
func (a *Answer) rowsBy(key func(n int) string) (keys []string, rows map[string][]int) {
	rows = map[string][]int{}
	for _, n := range a.withTrials() {
		k := key(n)
		if _, seen := rows[k]; !seen {
			keys = append(keys, k)
		}
		rows[k] = append(rows[k], n)
	}
	return keys, rows
}

// axisOf returns the axis of a measure's values in a chart.
func axisOf(m *answer.Measure) chart.Axis {
	x := chart.Axis{Label: m.Noun()}
	switch m.Unit {
	case answer.Share:
		x.Share = true
	case answer.Days:
		x.Duration = true
	case answer.Milliseconds, answer.PairHours:
		x.Label += " (" + string(m.Unit) + ")"
	}
	return x
}

// drawable converts a value to the unit of its measure's axis. A time beyond the horizon is
// drawn at the horizon, with beyond true.
func (a *Answer) drawable(m *answer.Measure, v answer.Number) (y float64, beyond bool) {
	if y = float64(v); m.Unit == answer.Days {
		if beyond = math.IsInf(y, 1); beyond {
			y = float64(a.HorizonDays)
		}
		y *= day
	}
	return y, beyond
}

// day in seconds.
const day = 24 * 3600

// slug returns a file name of letters, digits and dashes.
func slug(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '-':
			return r
		}
		return '-'
	}, s)
	return words.Cut(strings.Trim(s, "-"), 40)
}
