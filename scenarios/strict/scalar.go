package strict

import (
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Dialect is how plain scalars are understood.
type Dialect uint8

const (
	// Ours is YAML 1.2, where yes is text and 010 is ambiguous.
	Ours Dialect = iota
	// Kubectl is what kubectl reads manifests as: YAML 1.1, where yes is true
	// and 0644 is octal. A manifest must mean here what it means there.
	Kubectl
)

var (
	oldTrue   = []string{"y", "Y", "yes", "Yes", "YES", "on", "On", "ON"}
	oldFalse  = []string{"n", "N", "no", "No", "NO", "off", "Off", "OFF"}
	ledByZero = regexp.MustCompile(`^[-+]?0[0-9_]+$`)
	newOctal  = regexp.MustCompile(`^[-+]?0o[0-7_]+$`)
)

// oldBool reports whether a plain word is a boolean in YAML 1.1 only.
func oldBool(s string) (value, is bool) {
	return slices.Contains(oldTrue, s), slices.Contains(oldTrue, s) || slices.Contains(oldFalse, s)
}

const quoted = yaml.SingleQuotedStyle | yaml.DoubleQuotedStyle | yaml.LiteralStyle | yaml.FoldedStyle

// scalar is the value of a scalar: nil, bool, string or json.Number. The problem
// is not "" if it has none, or none that everybody would agree on.
func (d Dialect) scalar(n *yaml.Node) (v any, problem string) {
	if n.Style&yaml.TaggedStyle != 0 && n.Tag != "!!str" {
		return nil, fmt.Sprintf("YAML tag %s is not supported, remove it", Quote(n.Tag))
	}
	if n.Style&quoted != 0 || n.Tag == "!!str" && n.Style&yaml.TaggedStyle != 0 {
		return spaced(n.Value), "" // one that was written as an escape
	}
	if b, is := oldBool(n.Value); is && d == Kubectl {
		return b, ""
	}
	switch n.Tag {
	case "!!null":
		return nil, ""
	case "!!bool":
		return strings.EqualFold(n.Value, "true"), ""
	case "!!int", "!!float":
		return d.number(n)
	}
	return n.Value, ""
}

func (d Dialect) number(n *yaml.Node) (any, string) {
	if d == Ours && ledByZero.MatchString(n.Value) {
		return nil, fmt.Sprintf("%s is octal in YAML 1.1 and decimal in 1.2: write it without the leading zero, or in quotes", n.Value)
	}
	if newOctal.MatchString(n.Value) {
		return nil, fmt.Sprintf("%s is octal in YAML 1.2 and text in 1.1: write a decimal number, or put it in quotes", n.Value)
	}
	var v any
	if err := n.Decode(&v); err != nil {
		return nil, fmt.Sprintf("%s is not a number", Quote(n.Value))
	}
	switch v := v.(type) {
	case float64:
		if math.IsInf(v, 0) || math.IsNaN(v) {
			return nil, fmt.Sprintf("%s is not a finite number", Quote(n.Value))
		}
		b, err := json.Marshal(v)
		if err != nil {
			return nil, err.Error()
		}
		return json.Number(b), ""
	default: // int, int64 or uint64
		return json.Number(fmt.Sprint(v)), ""
	}
}

// free decodes a scalar without an expected type, so a word that two dialects read differently is refused.
func (d Dialect) free(n *yaml.Node) (any, string) {
	if b, is := oldBool(n.Value); is && d == Ours && n.Style&(quoted|yaml.TaggedStyle) == 0 {
		return nil, fmt.Sprintf("%s is %t in YAML 1.1 and text in 1.2: write %t, or put it in quotes", n.Value, b, b)
	}
	return d.scalar(n)
}

// key is a mapping's key. problem is not "" if it is not plainly text.
func (d Dialect) key(n *yaml.Node) (key, problem string) {
	if n.Kind != yaml.ScalarNode {
		return "", "a key must be text"
	}
	v, problem := d.scalar(n)
	if s, ok := v.(string); ok {
		return s, problem
	}
	if num, ok := v.(json.Number); ok && string(num) == n.Value && n.Tag == "!!int" {
		return n.Value, "" // an IPPool's allocations, written without quotes
	}
	return n.Value, fmt.Sprintf("key %s is not text: put it in quotes", Quote(n.Value))
}

// Describe names a value in a message.
func Describe(n *yaml.Node) string {
	switch {
	case n.Kind == yaml.MappingNode:
		return "a mapping"
	case n.Kind == yaml.SequenceNode:
		return "a list"
	case n.Tag == "!!null" && n.Style&quoted == 0:
		return "nothing"
	}
	return Quote(n.Value)
}
