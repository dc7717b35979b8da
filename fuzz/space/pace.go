package space

import (
	"time"

	"ipamsim/scenarios"
)

// pace draws how long the script is and how patient the cluster's controllers
// are. A node's silence is noticed within the script in half of the worlds, so
// that evictions happen at all.
func (w *world) pace(from, to time.Duration) {
	w.until = w.Duration(from, to)
	w.doc.Spec.Until = ms(w.until)
	w.doc.Spec.Limits.Steps = stepsMax
	t := scenarios.Timers{}
	if w.Chance(1, 2) {
		t.NodeMonitorGrace = ms(w.Duration(500*time.Millisecond, 10*time.Second))
		t.Toleration = ms(w.Duration(500*time.Millisecond, 20*time.Second))
		t.PodGC = ms(w.Duration(time.Second, 20*time.Second))
	}
	if w.Chance(1, 3) {
		t.SandboxRetry = ms(w.Duration(2*time.Second, 10*time.Second))
	}
	w.doc.Spec.Timers = t
}

// stepsMax ends a run that would cost more than it can teach; its verdict is
// unknown.
const stepsMax = 2000

// rest draws a quiet time after the script, in which bounds of time run out. What
// only holds at rest is judged at its end where there is rest: a server that now
// and then takes seconds, or a walk that lets time pass between any two messages,
// makes calls run out of their deadlines for ever, and nobody is to blame.
func (w *world) rest(d time.Duration) {
	s := &w.doc.Spec
	switch {
	case s.Strategy == "timed" && w.Chance(1, 2):
		s.Settle = ms(d)
		for class, l := range s.Latencies {
			l.Tail, l.Slow.Duration = 0, 0
			s.Latencies[class] = l
		}
	case s.Strategy != "timed" && w.Chance(1, 3):
		s.Until = ms(w.until + d)
	}
}
