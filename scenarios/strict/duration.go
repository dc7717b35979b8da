package strict

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// durationMax bounds every duration in a file.
const durationMax = 30 * 24 * time.Hour

// duration checks a duration in Go's syntax, as in Kubernetes.
func duration(n *yaml.Node) (string, string) {
	if n.Kind != yaml.ScalarNode || n.Tag == "!!null" {
		return "", fmt.Sprintf("want a duration, e.g. 5m30s, not %s", Describe(n))
	}
	d, err := time.ParseDuration(n.Value)
	plain := n.Tag == "!!str" // "0" and "+5" would otherwise be numbers
	switch {
	case err != nil || !plain:
		shown := n.Value
		if plain {
			shown = Quote(shown)
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

// likelyDuration returns the duration that "5 minutes", 30 or "1d" means.
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
