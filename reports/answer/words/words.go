// Package words renders numbers, names and lists for the sentences of an answer.
package words

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// NamesMax is the maximum number of names in a sentence; the others are counted.
const NamesMax = 4

// Percent renders a share. A share above 0 is never 0%, and a share below 1 never 100%.
func Percent(v float64) string {
	if s := Few(100 * v); s != "100" || v >= 1 {
		return s + "%"
	}
	return "> 99.9%"
}

// Few is Short with at most two decimals: more are noise. A value above 0 is never 0.
func Few(v float64) string {
	switch {
	case v > 0 && v < 0.005:
		return "< 0.01"
	case math.Abs(v) < 1:
		v = math.Round(100*v) / 100
	}
	return Short(v)
}

// Short renders three significant digits and separates thousands: 0.0123, 14.2, 1,234.
func Short(v float64) string {
	digits := 3
	if abs := math.Abs(v); abs >= 1000 {
		digits = int(math.Floor(math.Log10(abs))) + 1
	}
	v, _ = strconv.ParseFloat(strconv.FormatFloat(v, 'g', digits, 64), 64)
	s := strconv.FormatFloat(v, 'f', -1, 64)
	whole, fraction, cut := strings.Cut(s, ".")
	for i := len(strings.TrimPrefix(whole, "-")) - 3; i > 0; i -= 3 {
		at := len(whole) - len(strings.TrimPrefix(whole, "-")) + i
		whole = whole[:at] + "," + whole[at:]
	}
	if cut {
		return whole + "." + fraction
	}
	return whole
}

// Quoted quotes a user's name within a sentence.
func Quoted(name string) string {
	const runesMax = 80
	return `"` + Cut(name, runesMax) + `"`
}

// Cut shortens a text to a number of runes.
func Cut(text string, runes int) string {
	if r := []rune(text); len(r) > runes {
		return string(r[:runes-1]) + "…"
	}
	return text
}

// List joins parts: a, b and c.
func List(parts []string) string {
	if n := len(parts); n > 1 {
		return strings.Join(parts[:n-1], ", ") + " and " + parts[n-1]
	}
	return strings.Join(parts, "")
}

// Plural renders a count: 1 trial, 2 trials.
func Plural(n int, what string) string {
	switch {
	case n == 1:
		return "1 " + what
	case strings.HasSuffix(what, "ty"):
		return fmt.Sprintf("%d %sies", n, strings.TrimSuffix(what, "y"))
	case strings.HasSuffix(what, "fe"):
		return fmt.Sprintf("%d %sves", n, strings.TrimSuffix(what, "fe"))
	}
	return Short(float64(n)) + " " + what + "s"
}

// Some returns the first parts, and the number of the others.
func Some(parts []string, most int) []string {
	if len(parts) <= most {
		return parts
	}
	return append(append([]string(nil), parts[:most]...), fmt.Sprintf("%d more", len(parts)-most))
}

// NonEmpty returns the parts that are not empty.
func NonEmpty(parts []string) (out []string) {
	for _, p := range parts {
		if p != "" {
			out = append(out, p)
		}
	}
	return out
}

// Either returns one if n is 1, otherwise many.
func Either(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// Upper capitalizes the first letter.
func Upper(s string) string { return strings.ToUpper(s[:1]) + s[1:] }
