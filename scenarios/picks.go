package scenarios

import (
	"fmt"
	"strconv"
	"strings"
)

// FormatPicks writes a schedule as people can read it: runs of one number as
// N*COUNT.
func FormatPicks(picks []int) string {
	var b strings.Builder
	for i := 0; i < len(picks); {
		j := i
		for j < len(picks) && picks[j] == picks[i] {
			j++
		}
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(strconv.Itoa(picks[i]))
		if j-i > 1 {
			fmt.Fprintf(&b, "*%d", j-i)
		}
		i = j
	}
	return b.String()
}

// picksMax bounds what a hostile file can make us allocate.
const picksMax = 10_000_000

// ParsePicks is the inverse of FormatPicks.
func ParsePicks(s string) ([]int, error) {
	var out []int
	for _, f := range strings.Fields(s) {
		num, times, many := strings.Cut(f, "*")
		n, err := strconv.Atoi(num)
		count := 1
		if err == nil && many {
			count, err = strconv.Atoi(times)
		}
		if err != nil || n < 0 || count < 1 || count > picksMax-len(out) {
			return nil, fmt.Errorf("pick %q: want N or N*COUNT", f)
		}
		for range count {
			out = append(out, n)
		}
	}
	return out, nil
}
