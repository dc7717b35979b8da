package space

import (
	"maps"
	"slices"
	"time"

	"ipamsim/scenarios"
)

// spans are the ranges for the median latency of each class of message. Latencies of the environment
// (images, grace periods, Multus' other plugins) are long under every strategy; those of the
// server are short, and occasionally long.
var spans = map[string]struct {
	from, to time.Duration
	fact     bool // the latency may have a lower bound, for every schedule
}{
	"annotate": {time.Millisecond, 4 * time.Second, true},
	"api":      {time.Millisecond, 20 * time.Millisecond, false},
	"sandbox":  {time.Millisecond, time.Second, true},
	"start":    {time.Millisecond, 2 * time.Second, true},
	"status":   {time.Millisecond, 300 * time.Millisecond, false},
	"stop":     {time.Millisecond, 4 * time.Second, true},
	"watch":    {time.Millisecond, time.Second, false},
}

// Latencies draws latencies of messages: for each class none, which leaves it to the strategy, or a
// distribution, one in three with a heavy tail.
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
