package known

import "strings"

// Words returns what is known about a cause, or a signature, as part of a sentence.
func Words(what string) string {
	shown, ok := strings.CutPrefix(what, Shown)
	switch {
	case what == "":
		return "not known"
	case ok:
		return "the same as in " + shown
	}
	return "seen by searches"
}

// Short returns the same for a column: the first of the scenarios that show the cause, otherwise what is
// known.
func Short(what string) string {
	shown, ok := strings.CutPrefix(what, Shown)
	switch {
	case strings.HasPrefix(what, Seen):
		return "by searches" // findings.json has the details
	case !ok:
		return what
	}
	first, _, more := strings.Cut(shown, ", ")
	if more {
		first += ", …"
	}
	return first
}
