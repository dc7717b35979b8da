package baseline

import (
	"maps"
	"slices"
	"strings"
)

// Of is the baseline after results: what they say, with the tolerances as they were.
// Those that ran few seeds, because nothing is different (Stale), keep what many
// seeds showed. If they are not all there are, the other scenarios stay as they were.
// A finding is its own baseline, and in no other.
func Of(before *Baseline, results []Result, all bool) *Baseline {
	b := &Baseline{Format: Format, Upstream: map[string]string{}, Tolerances: before.tolerances()}
	entries := map[string]Entry{}
	if before != nil && !all {
		maps.Copy(b.Upstream, before.Upstream)
		for _, e := range before.Scenarios {
			entries[e.Scenario] = e
		}
	}
	for i := range results {
		r := &results[i]
		if r.Record != nil {
			continue
		}
		b.Upstream[r.Manager] = r.Upstream
		e := entryOf(r)
		if old := before.Entry(r.Scenario); r.Wide == nil && old != nil {
			e.keep(old)
		}
		entries[r.Scenario] = e
	}
	b.Scenarios = slices.SortedFunc(maps.Values(entries), func(a, b Entry) int { return strings.Compare(a.Scenario, b.Scenario) })
	return b
}

// keep what many seeds showed before.
func (e *Entry) keep(old *Entry) {
	e.Wide, e.Rates = old.Wide, old.Rates
	for name, c := range e.Costs {
		was := old.Costs[name]
		c.Low, c.Median, c.High = was.Low, was.Median, was.High
		e.Costs[name] = c
	}
}

// Stale are the scenarios, by index into now, that must be run under many seeds again
// before there is a new baseline: those of which anything is different, or that ran
// fewer seeds than wide says.
func Stale(before *Baseline, now []Result, wide func(*Result) int) []int {
	var out []int
	for i := range now {
		if now[i].Record != nil {
			continue
		}
		e := before.Entry(now[i].Scenario)
		c := comparison{before: e, now: &now[i]}
		if e == nil || e.Wide < wide(&now[i]) || c.moved() > 0 || len(c.changes()) > 0 || !c.sameMeasures() {
			out = append(out, i)
		}
	}
	return out
}

// sameMeasures: the same things are counted as before.
func (c *comparison) sameMeasures() bool {
	now := summed(c.now.Runs)
	for m := range now {
		if _, ok := c.before.cost(m); !ok {
			return false
		}
	}
	return len(now) == len(c.before.Costs)
}
