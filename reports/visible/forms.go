package visible

import (
	"fmt"
	"strconv"
	"strings"
)

// Markdown is something from outside as Markdown on one line, which shows as it is.
// It stands in a line that began otherwise, or in a cell. An entity cannot be markup,
// nor a part of a link or of a mention.
//
// Source: GitHub Flavored Markdown Spec 0.29, entities.
func Markdown(s string) string {
	var b strings.Builder
	for _, r := range strings.TrimSpace(Line(s)) {
		switch {
		case r >= 0x80, r == ' ', r >= '0' && r <= '9', r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z',
			strings.ContainsRune("-.,/()%=;'\"", r) && !strings.HasSuffix(b.String(), "www"):
			b.WriteRune(r)
		default:
			fmt.Fprintf(&b, "&#%d;", r)
		}
	}
	return strings.ReplaceAll(b.String(), "&#58; ", ": ")
}

// Inert is a text that no spreadsheet takes for a formula: one that begins like a
// formula, and is no number, has an apostrophe before it.
//
// Source: OWASP, CSV Injection.
func Inert(s string) string {
	if s != "" && strings.ContainsRune("=+-@\t\r\n", rune(s[0])) {
		if _, err := strconv.ParseFloat(s, 64); err != nil {
			return "'" + s
		}
	}
	return s
}
