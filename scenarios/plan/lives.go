package plan

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"time"

	"ipamsim/model/capacity"
)

// Bounds of distributions and weights.
const (
	marksMax  = 64
	weightMax = 1e6
	// perHourMax is far beyond what a scheduler binds.
	perHourMax = 1e6
	batchMax   = 1e4
)

// percentile names a mark: p50, p99.5.
var percentile = regexp.MustCompile(`^p([0-9]{1,2}(?:\.[0-9]{1,4})?)$`)

// livesExample is how a distribution of lives is written.
const livesExample = "{p10: 2m, p50: 3h, p90: 2d, rest: 9d}"

// lives are a mean, or marks with the mean of what is left behind the last one: see
// capacity.Lives. 0 is none.
func lives() Type {
	text := map[string]any{"type": "string", "pattern": spanPattern}
	return TypeOf(
		"a time of at least 1m, e.g. 12h or 30d, or 0, or by which age which percentage has ended: "+livesExample,
		map[string]any{"anyOf": []any{text, map[string]any{"type": "integer", "enum": []any{0}}, map[string]any{
			"type": "object", "additionalProperties": false, "minProperties": 1, "maxProperties": marksMax,
			"properties": map[string]any{"rest": text}, "patternProperties": map[string]any{percentile.String(): text},
		}}},
		func(v any) (lifetime, bool) {
			if t, ok := spanOf(v); ok {
				return lifetime{mean: t}, t == 0 || t >= time.Minute
			}
			l, ok := livesOf(v)
			return lifetime{by: l}, ok
		},
	)
}

// lifetime is a mean, or a distribution.
type lifetime struct {
	mean time.Duration
	by   capacity.Lives
}

// livesOf reads {p50: 3h, p90: 2d, rest: 9d}.
func livesOf(v any) (out capacity.Lives, ok bool) {
	given, ok := v.(map[string]any)
	if !ok || len(given) == 0 || len(given) > marksMax {
		return out, false
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		t, ok := spanOf(given[name])
		if !ok || t <= 0 {
			return out, false
		}
		if name == "rest" {
			out.Rest = t
			continue
		}
		m := percentile.FindStringSubmatch(name)
		if m == nil {
			return out, false
		}
		share, err := strconv.ParseFloat(m[1], 64)
		if err != nil || share <= 0 {
			return out, false
		}
		out.Marks = append(out.Marks, capacity.Mark{Share: share / 100, By: t})
	}
	slices.SortFunc(out.Marks, func(a, b capacity.Mark) int { return cmp.Compare(a.Share, b.Share) })
	for i := 1; i < len(out.Marks); i++ {
		if a, b := out.Marks[i-1], out.Marks[i]; a.Share == b.Share || a.By >= b.By {
			return out, false
		}
	}
	return out, out.Given() && out.Mean() >= time.Second
}

// LivesSetting is a distribution as the setting lifetime has it: by percentile, with
// rest.
func LivesSetting(l capacity.Lives) map[string]Span {
	out := map[string]Span{}
	for _, m := range l.Marks {
		out["p"+strconv.FormatFloat(math.Round(m.Share*1e6)/1e4, 'f', -1, 64)] = spanAs(m.By)
	}
	if l.Rest > 0 {
		out["rest"] = spanAs(l.Rest)
	}
	return out
}

func spanAs(d time.Duration) (s Span) {
	s.Duration.Duration = d
	return s
}

// weights are n numbers, []float64, of which one is above 0.
func weights(n int, of string) Type {
	return TypeOf(
		fmt.Sprintf("%d numbers of 0 to %g, one for each %s; only proportions matter", n, weightMax, of),
		map[string]any{"type": "array", "minItems": n, "maxItems": n, "items": map[string]any{"type": "number", "minimum": 0, "maximum": weightMax}},
		func(v any) ([]float64, bool) {
			all, ok := v.([]any)
			if !ok || len(all) != n {
				return nil, false
			}
			out, sum := []float64{}, 0.0
			for _, x := range all {
				f, ok := x.(float64)
				if !ok || !(f >= 0) || f > weightMax {
					return nil, false
				}
				out, sum = append(out, f), sum+f
			}
			return out, sum > 0
		},
	)
}

// number is one that need not be whole, float64.
func number(least, most float64) Type {
	return TypeOf(
		fmt.Sprintf("a number, %g to %g", least, most),
		map[string]any{"type": "number", "minimum": least, "maximum": most},
		func(v any) (float64, bool) {
			x, ok := v.(float64)
			return x, ok && x >= least && x <= most
		},
	)
}

// arrivalSettings are of pods that come besides those that are meant to run.
func arrivalSettings() []Setting {
	return []Setting{
		given("growPods", "with pods: how many more run at the horizon, one after the other at equal distances; fewer, if it is negative", Into(Whole(-podsMax, podsMax), func(d *Draft, n int) { d.Load.GrowPods = n })),
		given("arrivals", "pods an hour, on average over a week, that come besides and are not made again when they end: of Jobs, CronJobs, pipelines", Into(number(0, perHourMax), func(d *Draft, x float64) { d.Load.Arrivals.PerHour = x })),
		given("arrivalsByHour", "how many of them come in each hour of the day (UTC), in proportion; otherwise evenly", Into(weights(24, "hour of the day"), func(d *Draft, w []float64) { d.Load.Arrivals.Hours = w })),
		given("arrivalsByWeekday", "how many of them come on each day of the week from Monday on, in proportion; otherwise evenly", Into(weights(7, "day of the week, Monday first"), func(d *Draft, w []float64) { d.Load.Arrivals.Weekdays = w })),
		given("arrivalsBatch", "how many come at once on average, geometric; otherwise 1", Into(number(1, batchMax), func(d *Draft, x float64) { d.Load.Arrivals.Batch = x })),
		given("arrivalsLifetime", "how long they live, exponential around this mean or by percentiles", Into(lives(), func(d *Draft, l lifetime) {
			if l.mean > 0 {
				l.by = capacity.Lives{Rest: l.mean}
			}
			d.Load.Arrivals.Lives = l.by
		})),
		given("begins", "how far its week is when the plan begins, since Monday 00:00 UTC", Into(Time(time.Minute), func(d *Draft, t time.Duration) { d.Load.Begins = t })),
	}
}

// arriving checks what these settings mean for each other.
func (d *Draft) arriving() (name, problem string) {
	a := &d.Load.Arrivals
	switch {
	case a.PerHour > 0 && !a.Lives.Given():
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
	case d.Load.Begins >= 7*day:
		return "begins", "want less than 7d"
	}
	return "", ""
}
