// Package values defines the types of a plan's settings: the parser of each type, its description in
// messages, and its JSON Schema.
package values

import (
	"encoding/json"
	"fmt"
	"math"
	"net/netip"
	"slices"
	"strings"
	"time"

	"ipamsim/model/capacity"
	"ipamsim/model/capacity/workload"
)

// Type is what the values of a setting are: see TypeOf.
type Type struct {
	Want   string         // "a whole number, 1 to 10"
	Schema map[string]any // JSON Schema

	// Read takes a decoded JSON value, and says whether it is one of the type.
	Read func(any) (any, bool)
	// Put puts what was read into what is drafted; nil: nowhere.
	Put func(draft, value any)
}

// TypeOf makes a kind whose values are T. Read takes a decoded JSON value, and says
// whether it is one of the kind.
func TypeOf[T any](want string, schema map[string]any, read func(any) (T, bool)) Type {
	return Type{want, schema, func(v any) (any, bool) { return read(v) }, nil}
}

// Whole numbers, int.
func Whole(least, most int) Type {
	return TypeOf(
		fmt.Sprintf("a whole number, %d to %d", least, most),
		map[string]any{"type": "integer", "minimum": least, "maximum": most},
		func(v any) (int, bool) { return WholeOf(v, least, most) },
	)
}

// WholeOf reads a whole number.
func WholeOf(v any, least, most int) (int, bool) {
	x, ok := v.(float64)
	return int(x), ok && x == math.Trunc(x) && x >= float64(least) && x <= float64(most)
}

// Flag is a bool.
func Flag() Type {
	return TypeOf("true or false", map[string]any{"type": "boolean"}, func(v any) (bool, bool) {
		b, ok := v.(bool)
		return b, ok
	})
}

// Word is one of some, a string.
func Word(words ...string) Type {
	return TypeOf(strings.Join(words, " or "), map[string]any{"type": "string", "enum": words}, func(v any) (string, bool) {
		s, ok := v.(string)
		return s, ok && slices.Contains(words, s)
	})
}

// spanPattern is what ParseSpan reads.
const spanPattern = `^([0-9]+(\.[0-9]+)?d)?([0-9]+(\.[0-9]+)?(h|m|s|ms|us|ns))*$`

// Time is a time.Duration, or zero, for what does not happen.
func Time(least time.Duration) Type {
	return TypeOf(
		fmt.Sprintf("a time of at least %s, e.g. 12h or 30d, or 0", SpanText(least)),
		map[string]any{"anyOf": []any{map[string]any{"type": "string", "pattern": spanPattern}, map[string]any{"type": "integer", "enum": []any{0}}}},
		func(v any) (time.Duration, bool) {
			t, ok := SpanOf(v)
			return t, ok && (t == 0 || t >= least)
		},
	)
}

// SpanOf reads a time, or 0.
func SpanOf(v any) (time.Duration, bool) {
	switch v := v.(type) {
	case float64:
		return 0, v == 0
	case string:
		t, err := ParseSpan(v)
		return t, err == nil
	}
	return 0, false
}

const never = "never"

// TimeOrNever is a time.Duration, or capacity.Never.
func TimeOrNever() Type {
	return TypeOf(
		"a time of at least 1s, e.g. 15m, or never",
		map[string]any{"type": "string", "pattern": spanPattern + "|^never$"},
		func(v any) (time.Duration, bool) {
			if v == never {
				return capacity.Never, true
			}
			t, ok := SpanOf(v)
			return t, ok && t >= time.Second
		},
	)
}

// CIDR is a netip.Prefix.
func CIDR() Type {
	return TypeOf("a CIDR, e.g. 10.64.75.0/24", map[string]any{"type": "string"}, CIDROf)
}

// CIDROf reads a CIDR.
func CIDROf(v any) (netip.Prefix, bool) {
	s, ok := v.(string)
	p, err := netip.ParsePrefix(s)
	return p, ok && err == nil && p == p.Masked()
}

// Address is a netip.Addr.
func Address() Type {
	return TypeOf("an address, e.g. 10.64.75.10", map[string]any{"type": "string"}, func(v any) (netip.Addr, bool) {
		s, ok := v.(string)
		a, err := netip.ParseAddr(s)
		return a, ok && err == nil && a.Zone() == ""
	})
}

// PodsPerNodeMax bounds a distribution of pods.
const PodsPerNodeMax = 1000

// ListMax bounds a list.
const ListMax = 64

// CIDRs is a CIDR or a list of some, []netip.Prefix; least is how many it needs.
func CIDRs(least int) Type {
	text := map[string]any{"type": "string"}
	return TypeOf(
		"a CIDR, e.g. 10.64.75.0/24, or a list of CIDRs",
		map[string]any{"anyOf": []any{text, map[string]any{"type": "array", "items": text, "minItems": least, "maxItems": ListMax}}},
		func(v any) ([]netip.Prefix, bool) { return Several(v, least, CIDROf) },
	)
}

// Several reads a value or a list of at least the given number of values.
func Several[T any](v any, least int, one func(any) (T, bool)) ([]T, bool) {
	all, isList := v.([]any)
	if !isList {
		all = []any{v}
	}
	out := []T{}
	for _, x := range all {
		t, ok := one(x)
		if !ok {
			return nil, false
		}
		out = append(out, t)
	}
	return out, len(out) >= least && len(out) <= ListMax
}

// Distribution is a number, or a shape.
func Distribution() Type {
	shapes := []string{workload.Fixed, workload.Uniform, workload.Normal, workload.Poisson}
	number := func(most int) map[string]any { return map[string]any{"type": "number", "minimum": 0, "maximum": most} }
	return TypeOf(
		fmt.Sprintf("a number, 0 to %d, or {shape: fixed, uniform, normal or poisson, mean: 30, spread: 10, max: 110}", PodsPerNodeMax),
		map[string]any{"anyOf": []any{number(PodsPerNodeMax), map[string]any{
			"type": "object", "additionalProperties": false, "required": []string{"mean"},
			"properties": map[string]any{
				"shape": map[string]any{"type": "string", "enum": shapes},
				"mean":  number(PodsPerNodeMax), "spread": number(PodsPerNodeMax),
				"max": map[string]any{"type": "integer", "minimum": 0, "maximum": PodsPerNodeMax},
			},
		}}},
		func(v any) (workload.Distribution, bool) {
			out, ok := DistributionOf(v)
			return out, ok && (out.Shape == "" || slices.Contains(shapes, out.Shape)) &&
				out.Mean >= 0 && out.Mean <= PodsPerNodeMax && out.Spread >= 0 && out.Spread <= PodsPerNodeMax && out.Max >= 0 && out.Max <= PodsPerNodeMax
		},
	)
}

// DistributionText is a distribution for people: "uniform 70 ± 40".
func DistributionText(d workload.Distribution) string {
	s := strings.TrimSpace(fmt.Sprintf("%s %g", d.Shape, d.Mean))
	if d.Spread > 0 {
		s += fmt.Sprintf(" ± %g", d.Spread)
	}
	if d.Max > 0 {
		s += fmt.Sprintf(", %d at most", d.Max)
	}
	return s
}

// DistributionOf reads a distribution.
func DistributionOf(v any) (out workload.Distribution, ok bool) {
	if mean, ok := v.(float64); ok {
		return workload.Distribution{Mean: mean}, true
	}
	given, ok := v.(map[string]any)
	if !ok {
		return out, false
	}
	for name := range given {
		ok = ok && slices.Contains([]string{"shape", "mean", "spread", "max"}, name)
	}
	_, hasMean := given["mean"]
	b, err := json.Marshal(given)
	return out, ok && hasMean && err == nil && json.Unmarshal(b, &out) == nil
}

// Idle renders the parts of a distribution without effect, or "".
func Idle(v any) string {
	d, ok := DistributionOf(v)
	if !ok {
		return ""
	}
	switch {
	case d.Spread > 0 && (d.Shape == "" || d.Shape == workload.Fixed || d.Shape == workload.Poisson):
		return "only shape: uniform and shape: normal have a spread"
	case d.Shape == workload.Uniform && d.Spread > d.Mean:
		return fmt.Sprintf("mean %g ± %g goes below 0: want a spread of at most %g", d.Mean, d.Spread, d.Mean)
	case d.Max > 0 && float64(d.Max) < d.Mean:
		return fmt.Sprintf("max %d is less than mean, %g", d.Max, d.Mean)
	}
	return ""
}
