// Package visible makes texts from outside (a scenario's title, an object's name, an
// upstream error) harmless to look at: control characters, which could move a
// cursor or rewrite what was printed, and invisible ones, which could reorder or
// hide what stands beside them, become escapes that are seen. The terminal and the
// pages have it from here.
package visible

import (
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"
)

// fine reports whether a character is visible. Variation selectors and fillers count as letters
// and marks but are invisible.
func fine(r rune) bool {
	return r < utf8.RuneSelf && r >= ' ' && r != 0x7f ||
		r >= utf8.RuneSelf && unicode.IsPrint(r) && r != utf8.RuneError && !unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

// spaced is fine for texts of several lines.
func spaced(r rune) bool { return fine(r) || r == '\n' || r == '\t' || r == '\u00a0' }

// Line escapes a text for one line of a terminal.
func Line(s string) string { return escaped(s, fine) }

// Text escapes a text of several lines, or a page of HTML (Page). It does not escape markup:
// html/template does.
func Text(s string) string { return escaped(s, spaced) }

// Page executes an HTML template and writes the result with Text.
func Page(w io.Writer, page interface{ Execute(io.Writer, any) error }, view any) error {
	var b strings.Builder
	if err := page.Execute(&b, view); err != nil {
		return err
	}
	_, err := io.WriteString(w, Text(b.String()))
	return err
}

func escaped(s string, fine func(rune) bool) string {
	if strings.IndexFunc(s, func(r rune) bool { return !fine(r) }) < 0 {
		return s
	}
	var b strings.Builder
	for i, r := range s {
		switch {
		case r == utf8.RuneError && !strings.HasPrefix(s[i:], "\uFFFD"):
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case fine(r):
			b.WriteRune(r)
		default:
			b.WriteString(escape(r))
		}
	}
	return b.String()
}

func escape(r rune) string {
	if r < utf8.RuneSelf {
		return fmt.Sprintf(`\x%02x`, r)
	}
	return fmt.Sprintf(`\u%04x`, r)
}
