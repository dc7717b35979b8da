package values

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"time"

	"ipamsim/model/capacity/workload"
)

// Bounds of distributions and weights.
const (
	marksMax  = 64
	weightMax = 1e6
)

// percentile names a mark: p50, p99.5.
var percentile = regexp.MustCompile(`^p([0-9]{1,2}(?:\.[0-9]{1,4})?)$`)

// lifetimesExample shows the syntax of a distribution of lifetimes.
const lifetimesExample = "{p10: 2m, p50: 3h, p90: 2d, rest: 9d}"

// Lifetimes are a mean, or percentiles with the mean of the rest after the last one: see
// capacity.Lives. 0 is none.
func Lifetimes() Type {
	text := map[string]any{"type": "string", "pattern": spanPattern}
	return TypeOf(
		"a time of at least 1m, e.g. 12h or 30d, or 0, or the ages by which percentages have ended: "+lifetimesExample,
		map[string]any{"anyOf": []any{text, map[string]any{"type": "integer", "enum": []any{0}}, map[string]any{
			"type": "object", "additionalProperties": false, "minProperties": 1, "maxProperties": marksMax,
			"properties": map[string]any{"rest": text}, "patternProperties": map[string]any{percentile.String(): text},
		}}},
		func(v any) (Lifetime, bool) {
			if t, ok := SpanOf(v); ok {
				return Lifetime{Mean: t}, t == 0 || t >= time.Minute
			}
			l, ok := lifetimesOf(v)
			return Lifetime{By: l}, ok
		},
	)
}

// Lifetime is a mean, or a distribution.
type Lifetime struct {
	Mean time.Duration
	By   workload.Lifetimes
}

// lifetimesOf reads {p50: 3h, p90: 2d, rest: 9d}.
func lifetimesOf(v any) (out workload.Lifetimes, ok bool) {
	given, ok := v.(map[string]any)
	if !ok || len(given) == 0 || len(given) > marksMax {
		return out, false
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		t, ok := SpanOf(given[name])
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
		out.Marks = append(out.Marks, workload.Mark{Share: share / 100, By: t})
	}
	slices.SortFunc(out.Marks, func(a, b workload.Mark) int { return cmp.Compare(a.Share, b.Share) })
	for i := 1; i < len(out.Marks); i++ {
		if a, b := out.Marks[i-1], out.Marks[i]; a.Share == b.Share || a.By >= b.By {
			return out, false
		}
	}
	return out, out.Given() && out.Mean() >= time.Second
}

// LifetimesSetting is a distribution as the setting lifetime has it: by percentile, with
// rest.
func LifetimesSetting(l workload.Lifetimes) map[string]Span {
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

// Weights are n numbers, []float64, at least one of them above 0.
func Weights(n int, of string) Type {
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

// Number is a float64 between bounds.
func Number(least, most float64) Type {
	return TypeOf(
		fmt.Sprintf("a number, %g to %g", least, most),
		map[string]any{"type": "number", "minimum": least, "maximum": most},
		func(v any) (float64, bool) {
			x, ok := v.(float64)
			return x, ok && x >= least && x <= most
		},
	)
}
