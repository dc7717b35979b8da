package plan

import (
	"encoding/json"
	"fmt"
	"math"
	"net/netip"
	"slices"
	"strings"
	"time"

	"ipamsim/model/capacity"
	"ipamsim/model/reference/calico"
)

// kind is what the values of a setting are.
type kind struct {
	want   string                      // "a whole number, 1 to 10"
	schema map[string]any              // JSON Schema
	set    func(*draft, any) (ok bool) // takes a decoded JSON value
}

func whole(least, most int, set func(*draft, int)) kind {
	return kind{
		fmt.Sprintf("a whole number, %d to %d", least, most),
		map[string]any{"type": "integer", "minimum": least, "maximum": most},
		func(d *draft, v any) bool {
			x, ok := v.(float64)
			if !ok || x != math.Trunc(x) || x < float64(least) || x > float64(most) {
				return false
			}
			set(d, int(x))
			return true
		},
	}
}

func flag(set func(*draft, bool)) kind {
	return kind{"true or false", map[string]any{"type": "boolean"}, func(d *draft, v any) bool {
		b, ok := v.(bool)
		if ok {
			set(d, b)
		}
		return ok
	}}
}

func word(set func(*draft, string), words ...string) kind {
	return kind{strings.Join(words, " or "), map[string]any{"type": "string", "enum": words}, func(d *draft, v any) bool {
		s, ok := v.(string)
		ok = ok && slices.Contains(words, s)
		if ok {
			set(d, s)
		}
		return ok
	}}
}

// spanPattern is what ParseSpan reads.
const spanPattern = `^([0-9]+(\.[0-9]+)?d)?([0-9]+(\.[0-9]+)?(h|m|s|ms|us|ns))*$`

// span is a time, or zero, for what does not happen.
func span(least time.Duration, set func(*draft, time.Duration)) kind {
	return kind{
		fmt.Sprintf("a time of at least %s, e.g. 12h or 30d, or 0", SpanText(least)),
		map[string]any{"anyOf": []any{map[string]any{"type": "string", "pattern": spanPattern}, map[string]any{"type": "integer", "enum": []any{0}}}},
		func(d *draft, v any) bool {
			t, ok := spanOf(v)
			if !ok || t != 0 && t < least {
				return false
			}
			set(d, t)
			return true
		},
	}
}

func spanOf(v any) (time.Duration, bool) {
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

// grace is a time or never.
func grace(set func(*draft, time.Duration)) kind {
	return kind{
		"a time of at least 1s, e.g. 15m, or never",
		map[string]any{"type": "string", "pattern": spanPattern + "|^never$"},
		func(d *draft, v any) bool {
			t, ok := spanOf(v)
			if v == never {
				t, ok = calico.Never, true
			}
			if !ok || t >= 0 && t < time.Second {
				return false
			}
			set(d, t)
			return true
		},
	}
}

func prefix(set func(*draft, netip.Prefix)) kind {
	return kind{"a CIDR, e.g. 10.64.75.0/24", map[string]any{"type": "string"}, func(d *draft, v any) bool {
		p, ok := prefixOf(v)
		if ok {
			set(d, p)
		}
		return ok
	}}
}

func prefixOf(v any) (netip.Prefix, bool) {
	s, ok := v.(string)
	p, err := netip.ParsePrefix(s)
	return p, ok && err == nil && p == p.Masked()
}

func address(set func(*draft, netip.Addr)) kind {
	return kind{"an address, e.g. 10.64.75.10", map[string]any{"type": "string"}, func(d *draft, v any) bool {
		s, ok := v.(string)
		a, err := netip.ParseAddr(s)
		if ok = ok && err == nil && a.Zone() == ""; ok {
			set(d, a)
		}
		return ok
	}}
}

// prefixesMax bounds a list.
const prefixesMax = 64

// prefixes is a CIDR or a list of some; least is how many it needs.
func prefixes(least int, set func(*draft, []netip.Prefix)) kind {
	text := map[string]any{"type": "string"}
	return kind{
		"a CIDR, e.g. 10.64.75.0/24, or a list of CIDRs",
		map[string]any{"anyOf": []any{text, map[string]any{"type": "array", "items": text, "minItems": least, "maxItems": prefixesMax}}},
		func(d *draft, v any) bool {
			out, ok := several(v, least, prefixOf)
			if ok {
				set(d, out)
			}
			return ok
		},
	}
}

// several is what a value says that is one, or a list of at least so many.
func several[T any](v any, least int, one func(any) (T, bool)) ([]T, bool) {
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
	return out, len(out) >= least && len(out) <= prefixesMax
}

// distribution is a number, or a shape.
func distribution(set func(*draft, capacity.Distribution)) kind {
	shapes := []string{capacity.Fixed, capacity.Uniform, capacity.Normal, capacity.Poisson}
	number := func(most int) map[string]any { return map[string]any{"type": "number", "minimum": 0, "maximum": most} }
	return kind{
		fmt.Sprintf("a number, 0 to %d, or {shape: fixed, uniform, normal or poisson, mean: 30, spread: 10, max: 110}", podsPerNodeMax),
		map[string]any{"anyOf": []any{number(podsPerNodeMax), map[string]any{
			"type": "object", "additionalProperties": false, "required": []string{"mean"},
			"properties": map[string]any{
				"shape": map[string]any{"type": "string", "enum": shapes},
				"mean":  number(podsPerNodeMax), "spread": number(podsPerNodeMax),
				"max": map[string]any{"type": "integer", "minimum": 0, "maximum": podsPerNodeMax},
			},
		}}},
		func(d *draft, v any) bool {
			out, ok := distributionOf(v)
			ok = ok && (out.Shape == "" || slices.Contains(shapes, out.Shape)) &&
				out.Mean >= 0 && out.Mean <= podsPerNodeMax && out.Spread >= 0 && out.Spread <= podsPerNodeMax && out.Max >= 0 && out.Max <= podsPerNodeMax
			if ok {
				set(d, out)
			}
			return ok
		},
	}
}

// distributionText is a distribution for people: "uniform 70 ± 40".
func distributionText(d capacity.Distribution) string {
	s := strings.TrimSpace(fmt.Sprintf("%s %g", d.Shape, d.Mean))
	if d.Spread > 0 {
		s += fmt.Sprintf(" ± %g", d.Spread)
	}
	if d.Max > 0 {
		s += fmt.Sprintf(", %d at most", d.Max)
	}
	return s
}

func distributionOf(v any) (out capacity.Distribution, ok bool) {
	if mean, ok := v.(float64); ok {
		return capacity.Distribution{Mean: mean}, true
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
