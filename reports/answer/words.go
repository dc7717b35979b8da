package answer

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// say is a value with its unit where a column would not say it.
func (a *Answer) say(u Unit, v float64) string {
	switch {
	case math.IsNaN(v):
		return "–"
	case u == Days && math.IsInf(v, 1):
		return "> " + short(float64(a.HorizonDays)) + " d"
	case u == Days:
		return few(v) + " d"
	case u == Share:
		return percent(v)
	case u == Milliseconds:
		return few(v) + " ms"
	}
	return few(v)
}

// percent never says none or all of what is not.
func percent(v float64) string {
	if s := few(100 * v); s != "100" || v >= 1 {
		return s + "%"
	}
	return "> 99.9%"
}

// few is short with two digits behind the point at most: more are noise. It never
// says none of what is not.
func few(v float64) string {
	switch {
	case v > 0 && v < 0.005:
		return "< 0.01"
	case math.Abs(v) < 1:
		v = math.Round(100*v) / 100
	}
	return short(v)
}

// short has three digits that count, and thousands apart: 0.0123, 14.2, 1,234.
func short(v float64) string {
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

// band is the band of a figure: "1% to 8%", or "" where it has none.
func (a *Answer) band(m *Measure, f Figure) string {
	low, high := a.say(m.Unit, float64(f.Low)), a.say(m.Unit, float64(f.High))
	if math.IsNaN(float64(f.Low)) || low == high {
		return ""
	}
	return low + " to " + high
}

// bound in words: "exhaustion probability ≤ 5%", "blackholed = 0".
func (a *Answer) bound(b Bound) string {
	m := a.plan.Manager.measure(b.Measure)
	switch {
	case m == nil:
		return b.Measure + " ≤ " + short(b.Most)
	case b.Most == 0:
		return m.column() + " = 0"
	case m.Unit == Share:
		return m.column() + " ≤ " + short(100*b.Most) + "%" + m.average()
	}
	return m.column() + " ≤ " + short(b.Most) + map[Unit]string{Days: " d", Milliseconds: " ms"}[m.Unit] + m.average()
}

// called is what sentences call a measure of this name.
func (a *Answer) called(name string) string {
	if m := a.plan.Manager.measure(name); m != nil {
		return m.column()
	}
	return name
}

// average is what a sentence adds to the value of a mean over time.
func (m *Measure) average() string {
	if m.when != onAverage {
		return ""
	}
	return " " + string(onAverage)
}

// noun is a title within a sentence.
func (m *Measure) noun() string {
	first, size := utf8.DecodeRuneInString(m.Title)
	return string(unicode.ToLower(first)) + m.Title[size:]
}

// quoted is a name from outside within a sentence.
func quoted(name string) string {
	const runesMax = 80
	return `"` + cut(name, runesMax) + `"`
}

func cut(text string, runes int) string {
	if r := []rune(text); len(r) > runes {
		return string(r[:runes-1]) + "…"
	}
	return text
}

// list joins what is told one after the other: a, b and c.
func list(parts []string) string {
	if n := len(parts); n > 1 {
		return strings.Join(parts[:n-1], ", ") + " and " + parts[n-1]
	}
	return strings.Join(parts, "")
}

func plural(n int, what string) string {
	switch {
	case n == 1:
		return "1 " + what
	case strings.HasSuffix(what, "ty"):
		return fmt.Sprintf("%d %sies", n, strings.TrimSuffix(what, "y"))
	case strings.HasSuffix(what, "fe"):
		return fmt.Sprintf("%d %sves", n, strings.TrimSuffix(what, "fe"))
	}
	return short(float64(n)) + " " + what + "s"
}
