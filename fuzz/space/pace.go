package space

import (
	"time"

	"ipamsim/scenarios"
)

// Pace draws how long the script is and how patient the cluster's controllers
// are. A node's silence is noticed within the script in half of the worlds, so
// that evictions happen at all.
func (w *World) Pace(from, to time.Duration) {
	w.Until = w.Duration(from, to)
	w.Doc.Spec.Until = Millis(w.Until)
	w.Doc.Spec.Limits.Steps = stepsMax
	t := scenarios.Timers{}
	if w.Chance(1, 2) {
		t.NodeMonitorGrace = Millis(w.Duration(500*time.Millisecond, 10*time.Second))
		t.Toleration = Millis(w.Duration(500*time.Millisecond, 20*time.Second))
		t.PodGC = Millis(w.Duration(time.Second, 20*time.Second))
	}
	if w.Chance(1, 3) {
		t.SandboxRetry = Millis(w.Duration(2*time.Second, 10*time.Second))
	}
	w.Doc.Spec.Timers = t
}

// stepsMax ends a run that would cost more than it can teach; its verdict is
// unknown.
const stepsMax = 2000

// Rest draws a quiet time after the script, in which bounds of time run out. What
// only holds at rest is judged at its end where there is rest: a server that now
// and then takes seconds, or a walk that lets time pass between any two messages,
// makes calls run out of their deadlines for ever, and nobody is to blame.
func (w *World) Rest(d time.Duration) {
	s := &w.Doc.Spec
	switch {
	case s.Strategy == "timed" && w.Chance(1, 2):
		s.Settle = Millis(d)
		for class, l := range s.Latencies {
			l.Tail, l.Slow.Duration = 0, 0
			s.Latencies[class] = l
		}
	case s.Strategy != "timed" && w.Chance(1, 3):
		s.Until = Millis(w.Until + d)
	}
}

// From is any moment of the script from when something is ready.
func (w *World) From(ready time.Duration) time.Duration {
	return ready + time.Duration(w.Int(int((w.Until-ready)/time.Millisecond)))*time.Millisecond
}
