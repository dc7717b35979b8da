package reports

import (
	"fmt"
	"strings"
)

// Markdown is something from outside as Markdown on one line, which shows as it is.
// It stands in a line that began otherwise, or in a cell. An entity cannot be markup,
// nor a part of a link or of a mention.
//
// Source: GitHub Flavored Markdown Spec 0.29, entities.
func Markdown(s string) string {
	var b strings.Builder
	for _, r := range strings.TrimSpace(Clean(s)) {
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
