package baseline

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"

	"ipamsim/reports"
)

// sorted are measures by their names.
func sorted[T any](by map[reports.Measure]T) []reports.Measure {
	return slices.SortedFunc(maps.Keys(by), func(a, b reports.Measure) int { return cmp.Compare(a.String(), b.String()) })
}

// strangeness is a measure that moved far, and which way.
type strangeness struct {
	measure reports.Measure
	more    bool
}

// strange are the measures that moved further than chance moves the median of a
// gate's few runs, sorted: beyond Tukey's fences around the quartiles.
func (c *comparison) strange() []strangeness {
	var out []strangeness
	now := quartiles(c.now.Runs)
	for _, m := range sorted(now) {
		b, ok := c.before.cost(m)
		if !ok {
			continue
		}
		reach := 1.5*(b.High-b.Low) + c.tolerances[m.Family].of(b.Median)
		if x := now[m][1]; x < b.Low-reach || x > b.High+reach {
			out = append(out, strangeness{m, x > b.High})
		}
	}
	return out
}

// costs that moved. Fewer runs than before cost something else.
func (c *comparison) costs() []Change {
	if len(c.now.Runs) < len(c.before.Runs) {
		return nil
	}
	var out []Change
	now := quartiles(c.now.Runs)
	exact := summed(c.now.Runs)
	for _, m := range sorted(now) {
		b, ok := c.before.cost(m)
		if !ok {
			continue
		}
		before, after := b.Median, now[m][1]
		allowed := c.tolerances[m.Family].of(before)
		switch {
		case c.moved() == 0: // the same course: no chance
			before, after = b.Each(), exact[m].Each()
			allowed = c.tolerances[m.Family].of(before)
		case c.now.Wide != nil:
			q := quartiles(c.now.Wide)[m]
			after = q[1]
			if after >= b.Low && after <= b.High || before >= q[0] && before <= q[2] {
				continue // one of two values that are as frequent: the median jumps between them
			}
			allowed = max(allowed, 3*math.Hypot(deviation(b.High-b.Low, c.before.Wide), deviation(q[2]-q[0], len(c.now.Wide))))
		default:
			allowed += b.High - before + 1.5*(b.High-b.Low)
			if after < before {
				allowed += before - b.Low - (b.High - before)
			}
		}
		if math.Abs(after-before) <= allowed+1e-9 {
			continue
		}
		out = append(out, moved(m, before, after, c.command(c.now.Runs[0].Seed)))
	}
	return out
}

// deviation is the standard error of a median of n values with this distance of
// quartiles, if they are spread like a bell.
func deviation(quartiles float64, n int) float64 {
	return 1.2533 * quartiles / 1.349 / math.Sqrt(float64(max(1, n)))
}

func moved(m reports.Measure, before, after float64, command string) Change {
	word := "less"
	if after > before {
		word = "more"
	}
	return Change{Kind: CostMoved, Regression: after > before, What: m.String(), Measure: m, Before: figure(before), After: figure(after), Command: command,
		Sentence: fmt.Sprintf("%s: %s, before it was %s (%s%s).", m, figure(after), figure(before), percent(before, after), word)}
}

func percent(before, after float64) string {
	if before == 0 {
		return ""
	}
	return fmt.Sprintf("%.0f %% ", 100*math.Abs(after-before)/math.Abs(before))
}

// figure is a number with three digits that mean something, and all of whole ones.
func figure(x float64) string {
	if x == math.Trunc(x) && math.Abs(x) < 1e9 {
		return strconv.FormatFloat(x, 'f', 0, 64)
	}
	if math.Abs(x) >= 100 {
		return strconv.FormatFloat(x, 'f', 0, 64)
	}
	return strconv.FormatFloat(x, 'g', 3, 64)
}
