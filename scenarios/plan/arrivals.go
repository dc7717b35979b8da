package plan

import (
	"fmt"
	"time"

	"ipamsim/model/capacity/workload"
	"ipamsim/scenarios/plan/values"
)

const (
	// perHourMax is far beyond what a scheduler binds.
	perHourMax = 1e6
	batchMax   = 1e4
)

// arrivalSettings are of pods that come besides those that are meant to run.
func arrivalSettings() []Setting {
	return []Setting{
		given("growPods", "with pods: how many more run at the horizon, one after the other at equal distances; fewer, if it is negative", Into(values.Whole(-podsMax, podsMax), func(d *Draft, n int) { d.Load.GrowPods = n })),
		given("arrivals", "pods an hour, on average over a week, that come besides and are not made again when they end: of Jobs, CronJobs, pipelines", Into(values.Number(0, perHourMax), func(d *Draft, x float64) { d.Load.Arrivals.PerHour = x })),
		given("arrivalsByHour", "how many of them come in each hour of the day (UTC), in proportion; otherwise evenly", Into(values.Weights(24, "hour of the day"), func(d *Draft, w []float64) { d.Load.Arrivals.Hours = w })),
		given("arrivalsByWeekday", "how many of them come on each day of the week from Monday on, in proportion; otherwise evenly", Into(values.Weights(7, "day of the week, Monday first"), func(d *Draft, w []float64) { d.Load.Arrivals.Weekdays = w })),
		given("arrivalsBatch", "how many come at once on average, geometric; otherwise 1", Into(values.Number(1, batchMax), func(d *Draft, x float64) { d.Load.Arrivals.Batch = x })),
		given("arrivalsLifetime", "how long they live, exponential around this mean or by percentiles", Into(values.Lifetimes(), func(d *Draft, l values.Lifetime) {
			if l.Mean > 0 {
				l.By = workload.Lifetimes{Rest: l.Mean}
			}
			d.Load.Arrivals.Lifetimes = l.By
		})),
		given("begins", "how far its week is when the plan begins, since Monday 00:00 UTC", Into(values.Time(time.Minute), func(d *Draft, t time.Duration) { d.Load.Begins = t })),
	}
}

// arriving checks what these settings mean for each other.
func (d *Draft) arriving() (name, problem string) {
	a := &d.Load.Arrivals
	switch {
	case a.PerHour > 0 && !a.Lifetimes.Given():
		return "arrivalsLifetime", "missing: with arrivals, how long do they live?"
	case d.Given("arrivalsLifetime") && !d.Given("arrivals"):
		return "arrivals", "missing: with arrivalsLifetime, how many come in an hour?"
	case d.Load.GrowPods != 0 && d.Load.Pods == 0:
		return "growPods", "how many pods are more than how many? want pods beside it"
	case d.Load.Pods > 0 && d.Load.Pods+d.Load.GrowPods < 0:
		return "growPods", fmt.Sprintf("fewer than none: pods is %d", d.Load.Pods)
	case d.Load.Pods+max(d.Load.GrowPods, 0) > podsMax:
		return "growPods", fmt.Sprintf("%d pods in all, want at most %d", d.Load.Pods+d.Load.GrowPods, podsMax)
	case a.Standing() > podsMax:
		return "arrivalsLifetime", fmt.Sprintf("%.0f of these pods run at a time, want at most %d", a.Standing(), podsMax)
	case d.Load.Begins >= 7*values.Day:
		return "begins", "want less than 7d"
	}
	return "", ""
}
