package space

import (
	"time"

	"ipamsim/scenarios"
)

// Pace draws the length of the script and the timeouts of the cluster's controllers. In half of the worlds
// a silent node is noticed within the script, so that evictions occur.
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

// stepsMax ends a run that would cost more than it can show; its verdict is unknown.
const stepsMax = 2000

// Rest draws a quiet time after the script, in which time limits expire. Quiescent invariants are
// checked at its end, but only where calls come to an end: if the server occasionally takes
// seconds, or the strategy lets time pass between any two messages, calls may exceed their
// deadlines forever without any mistake of the manager.
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

// From draws a time of the script after something is ready.
func (w *World) From(ready time.Duration) time.Duration {
	return ready + time.Duration(w.Int(int((w.Until-ready)/time.Millisecond)))*time.Millisecond
}
