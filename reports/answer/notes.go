package answer

import (
	"fmt"
	"slices"

	"ipamsim/reports/answer/words"
)

// notes lists what the numbers of this plan do not mean.
func (a *Answer) notes() (out []string) {
	has := func(f func(*Row) bool) bool {
		return slices.ContainsFunc(a.Rows, func(r Row) bool { return f(&r) })
	}
	out = append(out, fmt.Sprintf("Every number is from trials drawn from the plan: its load, churn and failures. A band is the uncertainty that %s leave. It does not include how well the plan describes a cluster.", words.Plural(a.Repeats, "repeat")))
	out = append(out, fmt.Sprintf("An event that no trial of %s shows may still happen in up to %s of trials.", words.Plural(a.Repeats, "trial"), words.Percent(rare(a.Repeats))))
	if has(func(r *Row) bool { return r.Engine != RealCode && r.Trials > 0 }) {
		out = append(out, "The reference allocators handle one request at a time. For races, lost messages and crashes use ipamsim run and ipamsim explore.")
	}
	if has(func(r *Row) bool { _, ok := r.Figures["timeToExhaustion"]; return ok }) {
		out = append(out, fmt.Sprintf("A time to exhaustion is a median with its quartiles; > %s d is beyond the horizon, which was not simulated.", words.Short(float64(a.HorizonDays))))
	}
	if has(func(r *Row) bool { return len(r.Refused) > 0 }) {
		out = append(out, "Points that an engine refused are not in any number.")
	}
	return out
}

// rare returns the upper end of the band of an event that n trials did not show.
func rare(n int) float64 {
	_, high := Chance(0, n)
	return high
}
