package index

import (
	"fmt"
	"strconv"
	"time"
)

// short renders a duration without insignificant digits.
func short(d time.Duration) string {
	switch {
	case d < time.Second:
		return d.Round(time.Millisecond).String()
	case d < time.Minute:
		return d.Round(100 * time.Millisecond).String()
	}
	return d.Round(time.Second).String()
}

// cut leaves out the end of a text that would be all there is to see of a table.
func cut(text string) string {
	const runesMax = 600
	if r := []rune(text); len(r) > runesMax {
		return string(r[:runesMax-1]) + "…"
	}
	return text
}

// grouped is a number with its thousands apart: 12,345.
func grouped[N int | uint64](n N) string {
	s := strconv.FormatUint(uint64(n), 10)
	if n < 0 {
		return strconv.Itoa(int(n))
	}
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// plural counts things: 1 run, 2 runs, 2 switches.
func plural[N int | uint64](n N, what string) string {
	switch {
	case n == 1:
		return "1 " + what
	case what[len(what)-1] == 'h':
		return fmt.Sprintf("%s %ses", grouped(n), what)
	}
	return fmt.Sprintf("%s %ss", grouped(n), what)
}
