package chart

import (
	"image/color"
	"strings"
	"unicode"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"

	"ipamsim/reports/visible"
)

// textStyle is the one face of all text: Liberation Sans, which gonum brings along.
func textStyle(size vg.Length) text.Style {
	return text.Style{
		Color: color.Black, Handler: plot.DefaultTextHandler,
		Font: font.From(font.Font{Typeface: "Liberation", Variant: "Sans"}, size),
	}
}

// shownMax is the maximum number of runes of a drawn text, saidMax of a text for screen
// readers.
const (
	shownMax = 160
	saidMax  = 2000
)

func shown(s string) string { return line(s, shownMax) }

// line returns a text on one line with only visible characters.
func line(s string, most int) string {
	n := 0
	s = strings.Map(func(r rune) rune {
		if n++; n > most {
			return -1
		}
		if unicode.IsSpace(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "\ufffd"))
	if n > most {
		s += "…"
	}
	return strings.TrimSpace(visible.Line(s))
}

// cut a text to what fits.
func cut(s string, room vg.Length, style text.Style) string {
	s = shown(s)
	if style.Width(s) <= room {
		return s
	}
	runes := []rune(s)
	for n := len(runes) - 1; n > 0; n-- {
		if t := strings.TrimSpace(string(runes[:n])) + "…"; style.Width(t) <= room {
			return t
		}
	}
	return ""
}

// wrap a text at spaces into at most so many lines; the last one is cut.
func wrap(s string, room vg.Length, style text.Style, lines int) []string {
	var out []string
	line := ""
	for _, word := range strings.Fields(shown(s)) {
		with := strings.TrimSpace(line + " " + word)
		if line != "" && len(out) < lines-1 && style.Width(with) > room {
			out, with = append(out, cut(line, room, style)), word
		}
		line = with
	}
	if line != "" {
		out = append(out, cut(line, room, style))
	}
	return out
}
