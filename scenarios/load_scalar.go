package scenarios

import (
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// dialect is how plain scalars are understood.
type dialect uint8

const (
	// ours is YAML 1.2, where yes is text and 010 is nobody knows what.
	ours dialect = iota
	// kubectls is what kubectl reads manifests as: YAML 1.1, where yes is true
	// and 0644 is octal. A manifest must mean here what it means there.
	kubectls
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
func (d dialect) scalar(n *yaml.Node) (v any, problem string) {
	if n.Style&yaml.TaggedStyle != 0 && n.Tag != "!!str" {
		return nil, fmt.Sprintf("YAML tag %s is not supported, remove it", quote(n.Tag))
	}
	if n.Style&quoted != 0 || n.Tag == "!!str" && n.Style&yaml.TaggedStyle != 0 {
		return spaced(n.Value), "" // one that was written as an escape
	}
	if b, is := oldBool(n.Value); is && d == kubectls {
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

func (d dialect) number(n *yaml.Node) (any, string) {
	if d == ours && ledByZero.MatchString(n.Value) {
		return nil, fmt.Sprintf("%s is octal in YAML 1.1 and decimal in 1.2: write it without the leading zero, or in quotes", n.Value)
	}
	if newOctal.MatchString(n.Value) {
		return nil, fmt.Sprintf("%s is octal in YAML 1.2 and text in 1.1: write a decimal number, or put it in quotes", n.Value)
	}
	var v any
	if err := n.Decode(&v); err != nil {
		return nil, fmt.Sprintf("%s is not a number", quote(n.Value))
	}
	switch v := v.(type) {
	case float64:
		if math.IsInf(v, 0) || math.IsNaN(v) {
			return nil, fmt.Sprintf("%s is not a finite number", quote(n.Value))
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

// free is scalar where no type says what is wanted, so that a word two dialects
// read differently must be refused.
func (d dialect) free(n *yaml.Node) (any, string) {
	if b, is := oldBool(n.Value); is && d == ours && n.Style&(quoted|yaml.TaggedStyle) == 0 {
		return nil, fmt.Sprintf("%s is %t in YAML 1.1 and text in 1.2: write %t, or put it in quotes", n.Value, b, b)
	}
	return d.scalar(n)
}

// key is a mapping's key. problem is not "" if it is not plainly text.
func (d dialect) key(n *yaml.Node) (key, problem string) {
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
	return n.Value, fmt.Sprintf("key %s is not text: put it in quotes", quote(n.Value))
}

// describe names a value in a message.
func describe(n *yaml.Node) string {
	switch {
	case n.Kind == yaml.MappingNode:
		return "a mapping"
	case n.Kind == yaml.SequenceNode:
		return "a list"
	case n.Tag == "!!null" && n.Style&quoted == 0:
		return "nothing"
	}
	return quote(n.Value)
}

// durationMax bounds every duration in a file.
const durationMax = 30 * 24 * time.Hour

// duration checks a duration; the text is in Go's form, as Kubernetes has it.
func duration(n *yaml.Node) (string, string) {
	if n.Kind != yaml.ScalarNode || n.Tag == "!!null" {
		return "", fmt.Sprintf("want a duration, e.g. 5m30s, not %s", describe(n))
	}
	d, err := time.ParseDuration(n.Value)
	plain := n.Tag == "!!str" // "0" and "+5" would otherwise be numbers
	switch {
	case err != nil || !plain:
		shown := n.Value
		if plain {
			shown = quote(shown)
		}
		return "", fmt.Sprintf("%s is not a duration, want e.g. %s", shown, likelyDuration(n.Value))
	case d < 0:
		return "", fmt.Sprintf("%s is negative", n.Value)
	case d > durationMax:
		return "", fmt.Sprintf("%s is too long, want at most %dh", n.Value, int(durationMax.Hours()))
	}
	return n.Value, ""
}

var (
	numberAndUnit = regexp.MustCompile(`^(\d{1,6})\s*([a-z]*)\.?$`)
	clockTime     = regexp.MustCompile(`^(\d{1,4}):(\d{2})$`)
)

// likelyDuration is what somebody who wrote "5 minutes", 30 or "1d" meant.
func likelyDuration(s string) string {
	s = strings.ToLower(strings.TrimSpace(s))
	if m := clockTime.FindStringSubmatch(s); m != nil {
		return m[1] + "m" + m[2] + "s"
	}
	m := numberAndUnit.FindStringSubmatch(s)
	if m == nil {
		return "5m30s"
	}
	n, _ := strconv.Atoi(m[1])
	unit := m[2]
	switch {
	case strings.HasPrefix(unit, "d"):
		return strconv.Itoa(n*24) + "h"
	case strings.HasPrefix(unit, "ms"), strings.HasPrefix(unit, "milli"):
		return m[1] + "ms"
	case unit == "", strings.HasPrefix(unit, "s"):
		return m[1] + "s"
	case strings.HasPrefix(unit, "h"), strings.HasPrefix(unit, "m"):
		return m[1] + unit[:1]
	}
	return "5m30s"
}
