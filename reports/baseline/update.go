package baseline

import (
	"maps"
	"slices"
	"strings"
)

// Of returns a new baseline from results, with the tolerances of the old one. Results that ran
// few seeds because nothing changed (Stale) keep the rates of the old baseline. If all is false,
// scenarios without a result stay unchanged. Findings are not in a baseline: each is its own.
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

// keep copies the rates and cost bands of many seeds from the old entry.
func (e *Entry) keep(old *Entry) {
	e.Wide, e.Rates = old.Wide, old.Rates
	for name, c := range e.Costs {
		was := old.Costs[name]
		c.Low, c.Median, c.High = was.Low, was.Median, was.High
		e.Costs[name] = c
	}
}

// Stale returns the scenarios, by index into now, that must run with many seeds again for a new
// baseline: those with any difference, or with fewer seeds than wide returns.
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

// sameMeasures reports whether the baseline has the same measures.
func (c *comparison) sameMeasures() bool {
	now := summed(c.now.Runs)
	for m := range now {
		if _, ok := c.before.cost(m); !ok {
			return false
		}
	}
	return len(now) == len(c.before.Costs)
}
