package baseline

import (
	"maps"
	"slices"
	"strings"
)

// Of is the baseline after results: what they say, with the tolerances as they were.
// If they are not all there are, the scenarios of before that they do not name stay.
func Of(before *Baseline, results []Result, all bool) *Baseline {
	b := &Baseline{Format: Format, Upstream: map[string]string{}, Tolerances: Tolerances()}
	entries := map[string]Entry{}
	if before != nil && !all {
		maps.Copy(b.Upstream, before.Upstream)
		for _, e := range before.Scenarios {
			entries[e.Scenario] = e
		}
	}
	if before != nil && len(before.Tolerances) > 0 {
		b.Tolerances = before.Tolerances
	}
	for i := range results {
		r := &results[i]
		b.Upstream[r.Manager] = r.Upstream
		entries[r.Scenario] = EntryOf(r)
	}
	b.Scenarios = slices.SortedFunc(maps.Values(entries), func(a, b Entry) int { return strings.Compare(a.Scenario, b.Scenario) })
	return b
}
