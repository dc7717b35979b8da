package calico

import (
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"

	"ipamsim/scenarios/plan/values"
)

// newPool is an IPPool that a plan adds; what it does not say is as in the first
// pool of its family.
type newPool struct {
	Name      string // "": that of the first pool, with a number
	Prefix    netip.Prefix
	BlockSize int // 0: not said
	Selector  string
}

// addresses are the CIDRs of pools: of all of them in the order of their manifests,
// or by name.
type addresses struct {
	list  []netip.Prefix
	named map[string]netip.Prefix
}

// blockSizes are prefix lengths of blocks, by family or by the pool's name.
type blockSizes struct {
	four, six int // 0: not said
	named     map[string]int
}

// The names of families in a plan.
const (
	familyFour = "ipv4"
	familySix  = "ipv6"
)

// Lengths that blocks may have.
//
// Source: api/pkg/apis/projectcalico/v3, IPPoolSpec.BlockSize.
const (
	fourLeast, fourMost = 20, 32
	sixLeast, sixMost   = 116, 128
)

// named extends a schema by a mapping from the names of pools.
func named(value map[string]any) map[string]any {
	return map[string]any{"type": "object", "minProperties": 1, "maxProperties": values.ListMax, "additionalProperties": value}
}

// byName reads a value that is a mapping from the names of pools.
func byName[T any](v any, one func(any) (T, bool)) (map[string]T, bool) {
	given, ok := v.(map[string]any)
	out := make(map[string]T, len(given))
	for name, v := range given {
		t, fits := one(v)
		ok = ok && fits
		out[name] = t
	}
	return out, ok && len(out) > 0 && len(out) <= values.ListMax
}

// poolAddresses are CIDRs, or CIDRs by name: addresses.
func poolAddresses() values.Type {
	k := values.CIDRs(1)
	return values.TypeOf(
		k.Want+", or a CIDR for each name: {default-ipv4-ippool: 10.64.75.0/24}",
		map[string]any{"anyOf": append(k.Schema["anyOf"].([]any), named(map[string]any{"type": "string"}))},
		func(v any) (out addresses, ok bool) {
			if _, is := v.(map[string]any); is {
				out.named, ok = byName(v, values.CIDROf)
			} else {
				out.list, ok = values.Several(v, 1, values.CIDROf)
			}
			return out, ok
		},
	)
}

// poolSizes are prefix lengths by name, map[string]int.
func poolSizes() values.Type {
	return values.TypeOf(
		"a prefix length for each name, e.g. {default-ipv4-ippool: 23}",
		named(map[string]any{"type": "integer", "minimum": 8, "maximum": 124}),
		func(v any) (map[string]int, bool) {
			return byName(v, func(v any) (int, bool) { return values.WholeOf(v, 8, 124) })
		},
	)
}

// blockLengths is a number, which is of one family, or one by family or name: blockSizes.
func blockLengths() values.Type {
	number := map[string]any{"anyOf": []any{
		map[string]any{"type": "integer", "minimum": fourLeast, "maximum": fourMost},
		map[string]any{"type": "integer", "minimum": sixLeast, "maximum": sixMost},
	}}
	return values.TypeOf(
		fmt.Sprintf("%d to %d for IPv4, %d to %d for IPv6, or one for each: {%s: 27, %s: 122, default-ipv4-ippool: 28}", fourLeast, fourMost, sixLeast, sixMost, familyFour, familySix),
		map[string]any{"anyOf": []any{number, named(number)}},
		func(v any) (blockSizes, bool) {
			out := blockSizes{named: map[string]int{}}
			given, ok := v.(map[string]any)
			if !ok {
				given = map[string]any{"": v}
			}
			for name, v := range given {
				if !out.put(name, v) {
					return out, false
				}
			}
			return out, len(given) > 0 && len(given) <= values.ListMax
		},
	)
}

// put one length, of a family, a pool, or, without a name, of the family that has
// such blocks.
func (b *blockSizes) put(name string, v any) bool {
	four, isFour := values.WholeOf(v, fourLeast, fourMost)
	six, isSix := values.WholeOf(v, sixLeast, sixMost)
	switch {
	case (name == "" || name == familyFour) && isFour:
		b.four = four
	case (name == "" || name == familySix) && isSix:
		b.six = six
	case name != "" && name != familyFour && name != familySix && (isFour || isSix):
		b.named[name] = max(four*bit(isFour), six*bit(isSix))
	default:
		return false
	}
	return true
}

func bit(b bool) int {
	if b {
		return 1
	}
	return 0
}

// poolNames is a name, or some: []string.
func poolNames() values.Type {
	text := map[string]any{"type": "string", "minLength": 1}
	return values.TypeOf(
		"the name of an IPPool, or a list of names",
		map[string]any{"anyOf": []any{text, map[string]any{"type": "array", "items": text, "minItems": 1, "maxItems": values.ListMax}}},
		func(v any) ([]string, bool) {
			out, ok := values.Several(v, 1, func(v any) (string, bool) {
				name, ok := v.(string)
				return name, ok && name != ""
			})
			return out, ok && len(slices.Compact(slices.Sorted(slices.Values(out)))) == len(out)
		},
	)
}

// newPools is a CIDR, a pool, or a list of either: []newPool.
func newPools() values.Type {
	text := map[string]any{"type": "string"}
	one := map[string]any{"anyOf": []any{text, map[string]any{
		"type": "object", "additionalProperties": false, "required": []string{"cidr"},
		"properties": map[string]any{
			"name": text, "cidr": text, "nodeSelector": text,
			"blockSize": map[string]any{"type": "integer", "minimum": fourLeast, "maximum": sixMost},
		},
	}}}
	return values.TypeOf(
		"a CIDR, a pool, e.g. {name: second, cidr: 10.64.76.0/24, blockSize: 28, nodeSelector: all()}, or a list of these",
		map[string]any{"anyOf": append(one["anyOf"].([]any), map[string]any{"type": "array", "items": one, "minItems": 1, "maxItems": values.ListMax})},
		func(v any) ([]newPool, bool) { return values.Several(v, 1, newPoolOf) },
	)
}

func newPoolOf(v any) (p newPool, ok bool) {
	given, is := v.(map[string]any)
	if !is {
		p.Prefix, ok = values.CIDROf(v)
		return p, ok
	}
	if p.Prefix, ok = values.CIDROf(given["cidr"]); !ok {
		return p, false
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		text, isText := given[name].(string)
		switch name {
		case "cidr":
		case "name":
			p.Name, ok = strings.TrimSpace(text), isText && strings.TrimSpace(text) != ""
		case "nodeSelector":
			p.Selector, ok = text, isText
		case "blockSize":
			four := p.Prefix.Addr().Is4()
			if p.BlockSize, ok = values.WholeOf(given[name], sixLeast, sixMost); four {
				p.BlockSize, ok = values.WholeOf(given[name], fourLeast, fourMost)
			}
		default:
			ok = false
		}
		if !ok {
			return p, false
		}
	}
	return p, true
}
