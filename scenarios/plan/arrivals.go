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

// arrivalSettings are the settings of pods in addition to pods and podsPerNode.
func arrivalSettings() []Setting {
	return []Setting{
		given("growPods", "with pods: how many more run at the horizon, added at equal intervals; negative: fewer", Into(values.Whole(-podsMax, podsMax), func(d *Draft, n int) { d.Load.GrowPods = n })),
		given("arrivals", "additional pods per hour, on average over a week, that are not recreated when they end: of Jobs, CronJobs, pipelines", Into(values.Number(0, perHourMax), func(d *Draft, x float64) { d.Load.Arrivals.PerHour = x })),
		given("arrivalsByHour", "relative weights of the hours of the day (UTC) for arrivals; default: equal", Into(values.Weights(24, "hour of the day"), func(d *Draft, w []float64) { d.Load.Arrivals.Hours = w })),
		given("arrivalsByWeekday", "relative weights of the days of the week, Monday first, for arrivals; default: equal", Into(values.Weights(7, "day of the week, Monday first"), func(d *Draft, w []float64) { d.Load.Arrivals.Weekdays = w })),
		given("arrivalsBatch", "mean number of pods that arrive together, geometric; default: 1", Into(values.Number(1, batchMax), func(d *Draft, x float64) { d.Load.Arrivals.Batch = x })),
		given("arrivalsLifetime", "how long they run, exponential with this mean or by percentiles", Into(values.Lifetimes(), func(d *Draft, l values.Lifetime) {
			if l.Mean > 0 {
				l.By = workload.Lifetimes{Rest: l.Mean}
			}
			d.Load.Arrivals.Lifetimes = l.By
		})),
		given("begins", "start of the plan within the week, since Monday 00:00 UTC", Into(values.Time(time.Minute), func(d *Draft, t time.Duration) { d.Load.Begins = t })),
	}
}

// arriving checks what these settings mean for each other.
func (d *Draft) arriving() (name, problem string) {
	a := &d.Load.Arrivals
	switch {
	case a.PerHour > 0 && !a.Lifetimes.Given():
		return "arrivalsLifetime", "missing: arrivals require it"
	case d.Given("arrivalsLifetime") && !d.Given("arrivals"):
		return "arrivals", "missing: arrivalsLifetime requires it"
	case d.Load.GrowPods != 0 && d.Load.Pods == 0:
		return "growPods", "requires pods"
	case d.Load.Pods > 0 && d.Load.Pods+d.Load.GrowPods < 0:
		return "growPods", fmt.Sprintf("below zero: pods is %d", d.Load.Pods)
	case d.Load.Pods+max(d.Load.GrowPods, 0) > podsMax:
		return "growPods", fmt.Sprintf("%d pods in all, want at most %d", d.Load.Pods+d.Load.GrowPods, podsMax)
	case a.Standing() > podsMax:
		return "arrivalsLifetime", fmt.Sprintf("%.0f of these pods run at a time, want at most %d", a.Standing(), podsMax)
	case d.Load.Begins >= 7*values.Day:
		return "begins", "want less than 7d"
	}
	return "", ""
}
