// Package layout fits texts, numbers and times into the columns of a terminal.
package layout

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"
)

// Width is how wide a text for a terminal is at most, in characters.
const Width = 110

const tabWidth = 8

// Wrap breaks a clean text into lines of at most width runes, at spaces where
// there are any.
func Wrap(text string, width int) []string {
	var lines []string
	line := ""
	for _, word := range strings.Fields(text) {
		for {
			if line == "" && utf8.RuneCountInString(word) > width {
				head := string([]rune(word)[:width])
				lines, word = append(lines, head), word[len(head):]
				continue
			}
			if line != "" && utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > width {
				lines, line = append(lines, line), ""
				continue
			}
			break
		}
		line = strings.TrimPrefix(line+" "+word, " ")
	}
	if line != "" || len(lines) == 0 {
		lines = append(lines, line)
	}
	return lines
}

// Cut is the text itself, or its beginning with an ellipsis if it is too long.
func Cut(text string, width int) string {
	if utf8.RuneCountInString(text) <= width {
		return text
	}
	return string([]rune(text)[:width-1]) + "…"
}

// Pad fills a text up with spaces on the right. Package fmt would count runes as
// well, but take a * for every width.
func Pad(text string, width int) string {
	return text + strings.Repeat(" ", max(0, width-utf8.RuneCountInString(text)))
}

// Clock prints virtual time as people read it: the nanosecond that separates two
// messages is noise.
func Clock(d time.Duration) string { return d.Round(time.Millisecond).String() }

// Stamp is Clock for a column: all decimals, so that the digits stand below each
// other.
func Stamp(d time.Duration) string {
	d = d.Round(time.Millisecond)
	h, m, s, ms := d/time.Hour, d/time.Minute%60, d/time.Second%60, d/time.Millisecond%1000
	switch {
	case h > 0:
		return fmt.Sprintf("%dh%02dm%02d.%03ds", h, m, s, ms)
	case m > 0:
		return fmt.Sprintf("%dm%02d.%03ds", m, s, ms)
	}
	return fmt.Sprintf("%d.%03ds", s, ms)
}

// Plural is a number of things, "1 pod" or "2 pods".
func Plural(n int, what string) string { return Count(n, what, what+"s") }

// Count is a number of things that have a plural of their own, "1 pod runs" or "2 pods run".
func Count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// Expand puts spaces in the place of tabs, as a terminal does.
func Expand(line string) string {
	if !strings.Contains(line, "\t") {
		return line
	}
	var b strings.Builder
	col := 0
	for _, r := range line {
		if r != '\t' {
			b.WriteRune(r)
			col++
			continue
		}
		n := tabWidth - col%tabWidth
		b.WriteString(strings.Repeat(" ", n))
		col += n
	}
	return b.String()
}

// Some lists names, the first few of many.
func Some(names []string) string {
	const shown = 3
	if len(names) <= shown+1 {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:shown], ", "), len(names)-shown)
}
