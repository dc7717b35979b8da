package values

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	// Day is what d stands for.
	Day = 24 * time.Hour
	// SpanMax bounds every time in a plan.
	SpanMax = 3650 * Day
)

var daysFirst = regexp.MustCompile(`^(\d{1,5}(?:\.\d{1,6})?)d(.*)$`)

// ParseSpan reads a time as Go writes it, with days in front: 36h, 30d, 1d12h.
func ParseSpan(s string) (time.Duration, error) {
	bad := fmt.Errorf("%q is not a time, want e.g. 12h or 30d", s)
	rest, total := s, time.Duration(0)
	if m := daysFirst.FindStringSubmatch(s); m != nil {
		days, err := strconv.ParseFloat(m[1], 64)
		if err != nil {
			return 0, bad
		}
		if rest, total = m[2], time.Duration(days*float64(Day)); rest == "" {
			rest = "0s"
		}
	}
	d, err := time.ParseDuration(rest)
	if strings.HasPrefix(rest, "-") || strings.HasPrefix(rest, "+") || err != nil {
		return 0, bad
	}
	if d > SpanMax || total+d > SpanMax {
		return 0, fmt.Errorf("%s is too long, want at most %s", s, SpanText(SpanMax))
	}
	return total + d, nil
}

// SpanText is a time as ParseSpan reads it and people write it: 30d, 1d12h, 5m.
func SpanText(d time.Duration) string {
	days := d / Day
	rest := (d - days*Day).String()
	if strings.HasSuffix(rest, "m0s") {
		rest = strings.TrimSuffix(rest, "0s")
	}
	if strings.HasSuffix(rest, "h0m") {
		rest = strings.TrimSuffix(rest, "0m")
	}
	switch {
	case d%Day == 0 && days > 0:
		return fmt.Sprintf("%dd", days)
	case days > 0:
		return fmt.Sprintf("%dd%s", days, rest)
	}
	return rest
}

// Span is a time as metav1.Duration writes it, or in days: 36h, 30d.
type Span struct{ metav1.Duration }

// UnmarshalJSON reads what ParseSpan reads.
func (s *Span) UnmarshalJSON(b []byte) error {
	var text string
	if err := json.Unmarshal(b, &text); err != nil {
		return err
	}
	d, err := ParseSpan(text)
	s.Duration.Duration = d
	return err
}

// MarshalJSON writes SpanText.
func (s Span) MarshalJSON() ([]byte, error) { return json.Marshal(s.String()) }

// String is SpanText.
func (s Span) String() string { return SpanText(s.Duration.Duration) }

// Example is what would be right.
func (Span) Example() string { return "time, want e.g. 12h or 30d" }
