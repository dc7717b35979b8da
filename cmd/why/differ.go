package main

import (
	"fmt"
	"strings"
)

// difference is the first step at which two runs differ.
type difference struct {
	since       string // the earlier commit
	steps       [2]int // of the runs: before, now
	step        int    // from 1 on; 0: the runs are equal
	context     []string
	before, now string // lines of the schedule log; "" if the run has ended
}

// contextMax is the number of equal steps printed before the first difference.
const contextMax = 3

// stepsIn returns the lines of a schedule log without its head.
func stepsIn(log string) (steps []string) {
	for line := range strings.Lines(log) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			steps = append(steps, line)
		}
	}
	return steps
}

func differ(since string, before, now []string) difference {
	d := difference{since: since, steps: [2]int{len(before), len(now)}}
	at := func(steps []string, i int) string {
		if i < len(steps) {
			return steps[i]
		}
		return ""
	}
	for i := range max(len(before), len(now)) {
		if b, n := at(before, i), at(now, i); b != n {
			d.step, d.before, d.now = i+1, b, n
			d.context = before[max(0, i-contextMax):i]
			break
		}
	}
	return d
}

// String describes the difference. A line of the log is: step, time, index and number of the
// possible choices, what was chosen, and the result.
func (d difference) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "before: %.8s, %d steps; now: %d steps\n", d.since, d.steps[0], d.steps[1])
	if d.step == 0 {
		b.WriteString("The runs are equal: a golden that changed, changed in wording only.\n")
		return b.String()
	}
	fmt.Fprintf(&b, "%d steps are equal. The first that differs:\n", d.step-1)
	for _, line := range d.context {
		fmt.Fprintf(&b, "          %s\n", line)
	}
	for _, side := range []struct{ name, line string }{{"before", d.before}, {"now", d.now}} {
		if side.line == "" {
			side.line = "(the run has ended)"
		}
		fmt.Fprintf(&b, "  %-6s  %s\n", side.name, side.line)
	}
	if c, n := choices(d.before), choices(d.now); c != "" && n != "" && c != n {
		fmt.Fprintf(&b, "The number of possible choices differs, %s and %s: a message is new, gone, earlier or later.\n", c, n)
	}
	return b.String()
}

// choices returns the number of choices in a line of a schedule log, or "".
func choices(line string) string {
	f := strings.Fields(line)
	if len(f) < 3 {
		return ""
	}
	_, n, _ := strings.Cut(f[2], "/")
	return n
}
