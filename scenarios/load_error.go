package scenarios

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
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

// doc is one document of a file, or one item of a List.
type doc struct {
	file    string
	object  string
	within  path // where in the Scenario document it stands, for an object to apply
	root    *yaml.Node
	dialect dialect
	base    int // how many lines of the file are before the first of its nodes' line numbers
	// recorded: ipamsim wrote the document, and once wrote zeros for what was not there.
	recorded bool
}

// fail is a mistake at a node.
func (d *doc) fail(n *yaml.Node, p path, format string, args ...any) *Error {
	return &Error{
		File: d.file, Line: n.Line + d.base, Column: n.Column, Object: d.object,
		Field: append(d.within[:len(d.within):len(d.within)], p...).String(), Problem: fmt.Sprintf(format, args...),
	}
}

// failAt is a mistake at a path, or at what there is of it.
func (d *doc) failAt(p path, format string, args ...any) *Error {
	n, _ := locate(d.root, p)
	return d.fail(n, p, format, args...)
}

// shownMax is how much of a user's own text a message repeats.
const shownMax = 60

// quote repeats the user's text on one line.
func quote(s string) string {
	if r := []rune(s); len(r) > shownMax {
		s = string(r[:shownMax]) + "…"
	}
	return strconv.Quote(s)
}

// oneLine is another library's error text as part of our line.
func oneLine(err error) string {
	s := strings.Join(strings.Fields(err.Error()), " ")
	if r := []rune(s); len(r) > 400 {
		s = string(r[:400]) + "…"
	}
	return s
}

// listedMax is how many names a message lists.
const listedMax = 16

// want says what would have been right: the nearest name, or else all of them.
func want(word string, names []string) string {
	if near := nearest(word, names); near != "" {
		return fmt.Sprintf("did you mean %q?", near)
	}
	names = slices.Sorted(slices.Values(names))
	if len(names) == 0 {
		return "there is none"
	}
	if len(names) > listedMax {
		names = append(names[:listedMax:listedMax], "…")
	}
	if len(names) == 1 {
		return "want " + names[0]
	}
	return "want one of " + strings.Join(names, ", ")
}

// nearest is the name that was probably meant, or "".
func nearest(word string, names []string) string {
	best, bound := "", max(1, len(word)/3)+1
	if len(word) > shownMax {
		return ""
	}
	for _, n := range slices.Sorted(slices.Values(names)) {
		d := distance(strings.ToLower(word), strings.ToLower(n))
		if d < bound {
			best, bound = n, d
		}
	}
	return best
}

// distance counts the letters to insert, remove, change or swap with their
// neighbour.
func distance(a, b string) int {
	row := func() []int { return make([]int, len(b)+1) }
	before, last, now := row(), row(), row()
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		now[0] = i
		for j := 1; j <= len(b); j++ {
			change := 1
			if a[i-1] == b[j-1] {
				change = 0
			}
			now[j] = min(last[j]+1, now[j-1]+1, last[j-1]+change)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				now[j] = min(now[j], before[j-2]+1)
			}
		}
		before, last, now = last, now, before
	}
	return last[len(b)]
}
