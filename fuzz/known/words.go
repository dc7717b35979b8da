package known

import "strings"

// Words returns what is known about a cause, or a signature, as part of a sentence.
func Words(what string) string {
	shown, ok := strings.CutPrefix(what, Shown)
	switch {
	case what == "":
		return "none that is known"
	case ok:
		return "that of " + shown
	}
	return "one that searches saw"
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
