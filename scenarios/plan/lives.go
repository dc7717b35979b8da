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

// lives is a mean, or marks with the mean of what is left behind the last one: see
// capacity.Lives. 0 is none.
func lives(set func(*draft, time.Duration, capacity.Lives)) kind {
	text := map[string]any{"type": "string", "pattern": spanPattern}
	return kind{
		"a time of at least 1m, e.g. 12h or 30d, or 0, or by which age which percentage has ended: " + livesExample,
		map[string]any{"anyOf": []any{text, map[string]any{"type": "integer", "enum": []any{0}}, map[string]any{
			"type": "object", "additionalProperties": false, "minProperties": 1, "maxProperties": marksMax,
			"properties": map[string]any{"rest": text}, "patternProperties": map[string]any{percentile.String(): text},
		}}},
		func(d *draft, v any) bool {
			if t, ok := spanOf(v); ok {
				if t != 0 && t < time.Minute {
					return false
				}
				set(d, t, capacity.Lives{})
				return true
			}
			l, ok := livesOf(v)
			if ok {
				set(d, 0, l)
			}
			return ok
		},
	}
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

// weights are n numbers, of which one is above 0.
func weights(n int, of string, set func(*draft, []float64)) kind {
	return kind{
		fmt.Sprintf("%d numbers of 0 to %g, one for each %s; only proportions matter", n, weightMax, of),
		map[string]any{"type": "array", "minItems": n, "maxItems": n, "items": map[string]any{"type": "number", "minimum": 0, "maximum": weightMax}},
		func(d *draft, v any) bool {
			all, ok := v.([]any)
			if !ok || len(all) != n {
				return false
			}
			out, sum := []float64{}, 0.0
			for _, x := range all {
				f, ok := x.(float64)
				if !ok || !(f >= 0) || f > weightMax {
					return false
				}
				out, sum = append(out, f), sum+f
			}
			if sum > 0 {
				set(d, out)
			}
			return sum > 0
		},
	}
}

// number is one that need not be whole.
func number(least, most float64, set func(*draft, float64)) kind {
	return kind{
		fmt.Sprintf("a number, %g to %g", least, most),
		map[string]any{"type": "number", "minimum": least, "maximum": most},
		func(d *draft, v any) bool {
			x, ok := v.(float64)
			if ok = ok && x >= least && x <= most; ok {
				set(d, x)
			}
			return ok
		},
	}
}

// arrivalSettings are of pods that come besides those that are meant to run.
func arrivalSettings() []Setting {
	return []Setting{
		{"growPods", "", "with pods: how many more run at the horizon, one after the other at equal distances; fewer, if it is negative", whole(-podsMax, podsMax, func(d *draft, n int) { d.load.GrowPods = n })},
		{"arrivals", "", "pods an hour, on average over a week, that come besides and are not made again when they end: of Jobs, CronJobs, pipelines", number(0, perHourMax, func(d *draft, x float64) { d.load.Arrivals.PerHour = x })},
		{"arrivalsByHour", "", "how many of them come in each hour of the day (UTC), in proportion; otherwise evenly", weights(24, "hour of the day", func(d *draft, w []float64) { d.load.Arrivals.Hours = w })},
		{"arrivalsByWeekday", "", "how many of them come on each day of the week from Monday on, in proportion; otherwise evenly", weights(7, "day of the week, Monday first", func(d *draft, w []float64) { d.load.Arrivals.Weekdays = w })},
		{"arrivalsBatch", "", "how many come at once on average, geometric; otherwise 1", number(1, batchMax, func(d *draft, x float64) { d.load.Arrivals.Batch = x })},
		{"arrivalsLifetime", "", "how long they live, exponential around this mean or by percentiles", lives(func(d *draft, t time.Duration, l capacity.Lives) {
			if t > 0 {
				l = capacity.Lives{Rest: t}
			}
			d.load.Arrivals.Lives = l
		})},
		{"begins", "", "how far its week is when the plan begins, since Monday 00:00 UTC", span(time.Minute, func(d *draft, t time.Duration) { d.load.Begins = t })},
	}
}

// arriving checks what these settings mean for each other.
func (d *draft) arriving() (name, problem string) {
	a := &d.load.Arrivals
	switch {
	case a.PerHour > 0 && !a.Lives.Given():
		return "arrivalsLifetime", "missing: with arrivals, how long do they live?"
	case d.given["arrivalsLifetime"] && !d.given["arrivals"]:
		return "arrivals", "missing: with arrivalsLifetime, how many come in an hour?"
	case d.load.GrowPods != 0 && d.load.Pods == 0:
		return "growPods", "how many pods are more than how many? want pods beside it"
	case d.load.Pods > 0 && d.load.Pods+d.load.GrowPods < 0:
		return "growPods", fmt.Sprintf("fewer than none: pods is %d", d.load.Pods)
	case d.load.Pods+max(d.load.GrowPods, 0) > podsMax:
		return "growPods", fmt.Sprintf("%d pods in all, want at most %d", d.load.Pods+d.load.GrowPods, podsMax)
	case a.Standing() > podsMax:
		return "arrivalsLifetime", fmt.Sprintf("%.0f of these pods run at a time, want at most %d", a.Standing(), podsMax)
	case d.load.Begins >= 7*day:
		return "begins", "want less than 7d"
	}
	return "", ""
}
