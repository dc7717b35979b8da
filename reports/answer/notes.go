package answer

import (
	"fmt"
	"slices"

	"ipamsim/reports/answer/words"
)

// notes say what the numbers do not mean, as far as it concerns this plan.
func (a *Answer) notes() (out []string) {
	has := func(f func(*Row) bool) bool {
		return slices.ContainsFunc(a.Rows, func(r Row) bool { return f(&r) })
	}
	out = append(out, fmt.Sprintf("Every number is of trials drawn from the plan: its load, its churn, its troubles. A band says how sure %s make of that, and nothing of how well the plan describes a cluster.", words.Plural(a.Repeats, "repeat")))
	out = append(out, fmt.Sprintf("What happened in none of %s may still happen in up to %s of them.", words.Plural(a.Repeats, "trial"), words.Percent(rare(a.Repeats))))
	if has(func(r *Row) bool { return r.Engine != RealCode && r.Trials > 0 }) {
		out = append(out, "The reference allocators do one thing at a time: what comes of races, lost messages and processes that die at the wrong moment is for ipamsim run and explore.")
	}
	if has(func(r *Row) bool { _, ok := r.Figures["timeToExhaustion"]; return ok }) {
		out = append(out, fmt.Sprintf("A time to exhaustion is a median with its quartiles; > %s d is beyond the horizon, and nobody looked how far.", words.Short(float64(a.HorizonDays))))
	}
	if has(func(r *Row) bool { return len(r.Refused) > 0 }) {
		out = append(out, "Points that an engine refused are in no number.")
	}
	return out
}

// rare is the upper end of the band of what was never seen.
func rare(n int) float64 {
	_, high := Chance(0, n)
	return high
}
