package reports

import (
	"testing"
	"time"

	"ipamsim/sim"
)

// What happened between two messages is shown with the second: the first was
// delivered before it, and the film has its effect later.
func TestShownAt(t *testing.T) {
	r := &Report{Trace: &sim.Trace{Steps: []*sim.Step{{Decision: sim.Decision{Step: 1, At: time.Second}}, {Decision: sim.Decision{Step: 2, At: 9 * time.Second}}}}}
	for _, c := range []struct {
		step int
		at   time.Duration
		want int
	}{
		{0, 0, 0},                               // as it begins
		{0, time.Millisecond, 1},                // before the first message
		{1, time.Second, 1},                     // what the message came to
		{1, time.Second + 2*time.Nanosecond, 1}, // the same moment
		{1, 5 * time.Second, 2},                 // between the two
		{2, time.Minute, 2},                     // after the last: there is no other
	} {
		if got := r.ShownAt(c.step, c.at); got != c.want {
			t.Errorf("what happened at %s after message %d is shown at step %d; want %d", c.at, c.step, got, c.want)
		}
	}
}
