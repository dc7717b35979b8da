package reports

import "time"

// grain is the maximum delay between a message and its effects in the history, which orders
// simultaneous events by nanoseconds.
const grain = time.Microsecond

// ShownAt returns the step after which an event of the history is visible. An event between two
// messages has the number of the first, but the recording shows it with the second.
func (r *Report) ShownAt(step int, at time.Duration) int {
	if r.Trace == nil || step < 0 || step >= len(r.Trace.Steps) {
		return step
	}
	var last time.Duration
	if step > 0 {
		last = r.Trace.Steps[step-1].At
	}
	if at > last+grain {
		return step + 1
	}
	return step
}
