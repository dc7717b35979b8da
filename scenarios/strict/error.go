package strict

import (
	"fmt"
	"strconv"
	"strings"
)

// Error is one mistake in a scenario file: where it is and what would be right.
// It prints as one line:
//
//	web.yaml:12: spec.timeline[2].at: "5 minutes" is not a duration, want e.g. 5m
//	web.yaml:40: StatefulSet default/web: spec.replicaz: unknown field, did you mean "replicas"?
type Error struct {
	File         string
	Line, Column int    // from 1; 0: the mistake is the file as a whole
	Object       string // KIND NAMESPACE/NAME of a manifest; "" in the Scenario document
	Field        string // "" where the mistake is no field's
	Problem      string
}

func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.File)
	if e.Line > 0 {
		fmt.Fprintf(&b, ":%d", e.Line)
	}
	for _, s := range []string{e.Object, e.Field, e.Problem} {
		if s != "" {
			b.WriteString(": ")
			b.WriteString(s)
		}
	}
	return b.String()
}

// shownMax is how much of a user's own text a message repeats.
const shownMax = 60

// Quote repeats the user's text on one line.
func Quote(s string) string {
	if r := []rune(s); len(r) > shownMax {
		s = string(r[:shownMax]) + "…"
	}
	return strconv.Quote(s)
}

// OneLine is another library's error text as part of our line.
func OneLine(err error) string {
	s := strings.Join(strings.Fields(err.Error()), " ")
	if r := []rune(s); len(r) > 400 {
		s = string(r[:400]) + "…"
	}
	return s
}
