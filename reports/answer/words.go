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
		return short(v) + " d"
	case u == Share:
		return percent(v)
	case u == Milliseconds:
		return short(v) + " ms"
	}
	return short(v)
}

// amount of a measure without a sign: "4 routes", "12 points of waste".
func (m *Measure) amount(v float64) string {
	if m.Unit == Share {
		return short(100*math.Abs(v)) + " points of " + share(m)
	}
	s := short(math.Abs(v))
	if s == "1" {
		return s + " " + one(m.noun())
	}
	return s + " " + m.noun()
}

func share(m *Measure) string {
	if m.Over == OverChance {
		return "the " + m.noun()
	}
	return m.noun()
}

// one of what a noun names: its first word that ends as plurals do.
func one(noun string) string {
	words := strings.Split(noun, " ")
	for i, w := range words {
		switch {
		case strings.HasSuffix(w, "ies"):
			words[i] = strings.TrimSuffix(w, "ies") + "y"
		case strings.HasSuffix(w, "sses"):
			words[i] = strings.TrimSuffix(w, "es")
		case strings.HasSuffix(w, "s"):
			words[i] = strings.TrimSuffix(w, "s")
		default:
			continue
		}
		break
	}
	return strings.Join(words, " ")
}

// percent never says none or all of what is not.
func percent(v float64) string {
	if s := short(100 * v); s != "100" || v >= 1 {
		return s + "%"
	}
	return "> 99.9%"
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

// bound in words: "exhaustion ≤ 5%", "blackholed = 0".
func (a *Answer) bound(b Bound) string {
	unit := Unit("")
	for _, m := range Measures() {
		if m.Name == b.Measure {
			unit = m.Unit
		}
	}
	if b.Most == 0 {
		return b.Measure + " = 0"
	}
	return b.Measure + " ≤ " + a.say(unit, b.Most)
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
	case strings.HasSuffix(what, "fe"):
		return fmt.Sprintf("%d %sves", n, strings.TrimSuffix(what, "fe"))
	}
	return short(float64(n)) + " " + what + "s"
}
