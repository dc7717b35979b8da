package known

import "strings"

// Words say what is known of a cause, or of a look: what is in a list, or nothing.
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

// Short is that for a column: the first of the scenarios that show it. What else is said, of
// those that are on no list, stays.
func Short(what string) string {
	shown, ok := strings.CutPrefix(what, Shown)
	switch {
	case strings.HasPrefix(what, Seen):
		return "by searches" // and findings.json says as what
	case !ok:
		return what
	}
	first, _, more := strings.Cut(shown, ", ")
	if more {
		first += ", …"
	}
	return first
}
