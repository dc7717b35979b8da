package sim

import "time"

// Ladder holds the lengths of a Delay, shortest first: 100 µs to 54 s, each a
// quarter more than the one before. A schedule stays a list of small integers
// because a delay is a step of this ladder and not a number of nanoseconds; a
// quarter is finer than any latency distribution a scenario can state honestly.
var Ladder = ladder(60)

func ladder(steps int) []time.Duration {
	l := make([]time.Duration, steps)
	d := 100 * time.Microsecond
	for i := range l {
		l[i] = d.Round(10 * time.Microsecond)
		d += d / 4
	}
	return l
}

// Rung is the first step of Ladder that lasts at least d.
func Rung(d time.Duration) int {
	for i, l := range Ladder {
		if l >= d {
			return i
		}
	}
	return len(Ladder) - 1
}
