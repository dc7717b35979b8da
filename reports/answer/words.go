package answer

import (
	"math"
	"unicode"
	"unicode/utf8"

	"ipamsim/reports/answer/words"
)

// Say renders a value with its unit.
func (a *Answer) Say(u Unit, v float64) string {
	switch {
	case math.IsNaN(v):
		return "–"
	case u == Days && math.IsInf(v, 1):
		return "> " + words.Short(float64(a.HorizonDays)) + " d"
	case u == Days:
		return words.Few(v) + " d"
	case u == Share:
		return words.Percent(v)
	case u == Milliseconds:
		return words.Few(v) + " ms"
	}
	return words.Few(v)
}

// band renders the band of a figure, "1% to 8%", or "" if it has none.
func (a *Answer) band(m *Measure, f Figure) string {
	low, high := a.Say(m.Unit, float64(f.Low)), a.Say(m.Unit, float64(f.High))
	if math.IsNaN(float64(f.Low)) || low == high {
		return ""
	}
	return low + " to " + high
}

// bound renders a bound: "exhaustion probability ≤ 5%", "blackholed = 0".
func (a *Answer) bound(b Bound) string {
	m := a.Question.Manager.measure(b.Measure)
	switch {
	case m == nil:
		return b.Measure + " ≤ " + words.Short(b.Most)
	case b.Most == 0:
		return m.Column() + " = 0"
	case m.Unit == Share:
		return m.Column() + " ≤ " + words.Short(100*b.Most) + "%" + m.average()
	}
	return m.Column() + " ≤ " + words.Short(b.Most) + map[Unit]string{Days: " d", Milliseconds: " ms"}[m.Unit] + m.average()
}

// Called returns the name of a measure in sentences.
func (a *Answer) Called(name string) string {
	if m := a.Question.Manager.measure(name); m != nil {
		return m.Column()
	}
	return name
}

// average returns the suffix of a mean over time.
func (m *Measure) average() string {
	if m.When != OnAverage {
		return ""
	}
	return " " + string(OnAverage)
}

// Noun returns the title in lower case, for use within a sentence.
func (m *Measure) Noun() string {
	first, size := utf8.DecodeRuneInString(m.Title)
	return string(unicode.ToLower(first)) + m.Title[size:]
}
