package space

import (
	"maps"
	"slices"
	"time"

	"ipamsim/scenarios"
)

// spans of the median of each class of message. What takes long in the world
// (images, grace periods, Multus' other plugins) takes long under every strategy;
// what the server does is fast, and slow now and then.
var spans = map[string]struct {
	from, to time.Duration
	fact     bool // may be a lower bound, which no schedule can undercut
}{
	"annotate": {time.Millisecond, 4 * time.Second, true},
	"api":      {time.Millisecond, 20 * time.Millisecond, false},
	"sandbox":  {time.Millisecond, time.Second, true},
	"start":    {time.Millisecond, 2 * time.Second, true},
	"status":   {time.Millisecond, 300 * time.Millisecond, false},
	"stop":     {time.Millisecond, 4 * time.Second, true},
	"watch":    {time.Millisecond, time.Second, false},
}

// Latencies draws how long messages take: for each class nothing, which leaves it
// to the strategy, or a distribution, one in three with a heavy tail.
func (w *World) Latencies() {
	out := map[string]scenarios.Latency{}
	for _, class := range slices.Sorted(maps.Keys(spans)) {
		if w.Chance(3, 5) {
			out[class] = w.latency(class)
		}
	}
	if len(out) > 0 {
		w.Doc.Spec.Latencies = out
	}
}

func (w *World) latency(class string) scenarios.Latency {
	s := spans[class]
	median := Millis(w.Duration(s.from, s.to))
	l := scenarios.Latency{Median: median, Spread: Pick(w.Choices, 0, .2, 1, 1.5)}
	if s.fact && w.Chance(1, 2) {
		l = scenarios.Latency{Min: median}
	}
	if w.Chance(1, 3) {
		l.Tail = Pick(w.Choices, .02, .1, .3)
		l.Slow = Millis(w.Duration(100*time.Millisecond, 5*time.Second))
	}
	return l
}
