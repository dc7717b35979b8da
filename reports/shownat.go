package reports

import "time"

// grain is how far behind its message what it came to may stand: what happens at
// one moment is told apart by nanoseconds.
const grain = time.Microsecond

// ShownAt is the step after which something can be seen that the history has at a
// step. What happened between two messages has the number of the one before, but
// whoever stands there does not see it yet: the film shows it with the next.
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
