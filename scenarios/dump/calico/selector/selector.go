// Package selector replaces names in selectors of Calico's.
package selector

import (
	"fmt"
	"slices"
	"strings"

	"ipamsim/scenarios/dump/alias"
	"ipamsim/scenarios/strict"
)

// Rename replaces names in a selector of Calico's. Keys of labels become label-1,
// the texts that they are compared with value-1.
//
// Source: libcalico-go/lib/selector (v3.31).
func Rename(a *alias.Aliases, s string) (string, error) {
	var b strings.Builder
	var words []string // of the operator before the next text
	for i := 0; i < len(s); {
		switch c := s[i]; {
		case c == '"' || c == '\'':
			end := strings.IndexByte(s[i+1:], c)
			if end < 0 {
				return "", fmt.Errorf("selector %s: a quote is never closed", strict.Quote(s))
			}
			if n := len(words); n > 0 && slices.Contains([]string{"contains", "with"}, words[n-1]) {
				return "", fmt.Errorf("selector %s: %q compares parts of names, which anonymised ones do not have: import without --anonymise", strict.Quote(s), words[n-1])
			}
			b.WriteString(`'` + a.Get("value", s[i+1:i+1+end]) + `'`)
			i += end + 2
		case wordByte(c):
			n := i
			for n < len(s) && wordByte(s[n]) {
				n++
			}
			words = append(words, s[i:n])
			if word := s[i:n]; slices.Contains(selectorWords, word) {
				b.WriteString(word)
			} else {
				b.WriteString(a.Key(word))
			}
			i = n
		default:
			b.WriteByte(c)
			i++
		}
	}
	return b.String(), nil
}

func wordByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("_./-", c) >= 0
}

// selectorWords are not keys of labels.
var selectorWords = []string{"all", "has", "in", "not", "contains", "starts", "ends", "with", "global"}

// Keys are the words of a selector that are keys of labels, and the texts.
func Keys(s string, keys, values map[string]bool) {
	for i := 0; i < len(s); {
		switch c := s[i]; {
		case c == '"' || c == '\'':
			end := strings.IndexByte(s[i+1:], c)
			if end < 0 {
				return
			}
			values[s[i+1:i+1+end]] = true
			i += end + 2
		case wordByte(c):
			n := i
			for n < len(s) && wordByte(s[n]) {
				n++
			}
			if !slices.Contains(selectorWords, s[i:n]) {
				keys[s[i:n]] = true
			}
			i = n
		default:
			i++
		}
	}
}
