package strict

import (
	"fmt"
	"slices"
	"strings"
)

// listedMax is how many names a message lists.
const listedMax = 16

// Want renders the allowed values: the nearest name, or else all of them.
func Want(word string, names []string) string {
	if near := Nearest(word, names); near != "" {
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

// Nearest is the name that was probably meant, or "".
func Nearest(word string, names []string) string {
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
