package calibrate

import (
	"slices"
	"time"

	"ipamsim/model/capacity"
	"ipamsim/model/capacity/workload"
	"ipamsim/scenarios/calibrate/observe"
)

// Measure is something that is predicted, and can be counted in the data.
type Measure uint8

// The measures.
const (
	MeasureStarted Measure = iota // pods that came
	MeasureEnded                  // pods that ended
	MeasureMost                   // most pods at a time
	MeasureMean                   // pods on average
	MeasureEnd                    // pods at the end
	MeasureNodes                  // nodes at the end
	MeasureJoined                 // nodes that joined
	MeasureLost                   // nodes that went
	MeasureDrains
	MeasureCrashes
	measures
)

// A cluster that is known from scans is measured by what scans show; one that is known from a log, by
// everything. A world is measured in the same way.

// lens is how pods are seen: at instants, or always if there are none.
type lens struct {
	scans []time.Duration // times of the scans since the beginning of the rest
	whole time.Duration
}

func lensOf(h *observe.History, w observe.Window) lens {
	l := lens{whole: w.Length()}
	if h.Logged >= h.Windows[observe.PodEnds].Length()*9/10 && h.Logged > 0 {
		for at := time.Duration(0); at <= l.whole; at += time.Hour { // where pods are counted
			l.scans = append(l.scans, -at)
		}
		return l
	}
	for _, t := range h.Scans {
		if t.After(w.From) && !t.After(w.To) {
			l.scans = append(l.scans, t.Sub(w.From))
		}
	}
	return l
}

// always reports whether a log shows each pod; the instants are those at which pods are counted.
func (l *lens) always() bool { return len(l.scans) > 0 && l.scans[len(l.scans)-1] < 0 }

// sees reports whether a pod that runs from one instant to another is observed.
func (l *lens) sees(from, to time.Duration) bool {
	if l.always() {
		return true
	}
	i, _ := slices.BinarySearch(l.scans, from)
	return i < len(l.scans) && l.scans[i] < to
}

// counter counts pods.
type counter struct {
	lens
	started, ended float64
	change         []float64 // changes of the number of pods, at each scan
}

func newCounter(l lens) *counter { return &counter{lens: l, change: make([]float64, len(l.scans)+1)} }

// pod counts one pod; from is below 0 if it ran before, and to is beyond the end if it runs then.
func (c *counter) pod(from, to time.Duration) {
	if from > 0 && c.sees(from, to) {
		c.started++
	}
	if to <= c.whole && to > 0 && (from <= 0 || c.sees(from, to)) {
		c.ended++
	}
	c.change[c.index(max(from, 0))]++
	c.change[c.index(to)]--
}

// index returns the index of the first scan at or after an instant.
func (c *counter) index(at time.Duration) int {
	if c.always() {
		return min(int((at+time.Hour-1)/time.Hour), len(c.scans))
	}
	i, _ := slices.BinarySearch(c.scans, at)
	return i
}

func (c *counter) result(out *[measures]float64) {
	out[MeasureStarted], out[MeasureEnded] = c.started, c.ended
	now, sum := 0.0, 0.0
	for i := range c.scans {
		now += c.change[i]
		sum += now
		out[MeasureMost] = max(out[MeasureMost], now)
	}
	if n := len(c.scans); n > 0 {
		out[MeasureMean], out[MeasureEnd] = sum/float64(n), now
	}
}

// cameOf counts what came.
func (f *Fit) cameOf(h *observe.History, w observe.Window) (out [measures]float64) {
	c := newCounter(lensOf(h, w))
	for i := range h.Pods {
		p := &h.Pods[i]
		if !p.Owner.Remade() && !f.knowsArrivals() {
			continue
		}
		from := p.Born
		if from.IsZero() {
			from = p.Entered
		}
		if from.IsZero() || from.After(w.To) || p.Ended && !p.Gone.After(w.From) {
			continue
		}
		to := c.whole + 1
		if p.Ended && !p.Gone.After(w.To) {
			to = p.Last.Add(p.Gone.Sub(p.Last) / 2).Sub(w.From)
			if to = max(to, 1); p.Gone.After(p.Last) && p.Last.Sub(w.From) >= 0 {
				to = max(to, p.Last.Sub(w.From)+1) // it was still seen then
			}
		}
		c.pod(from.Sub(w.From), to)
	}
	c.result(&out)
	nodesCame(h, w, &out)
	return out
}

func nodesCame(h *observe.History, w observe.Window, out *[measures]float64) {
	inside := func(t time.Time) bool { return t.After(w.From) && !t.After(w.To) }
	for i := range h.Nodes {
		n := &h.Nodes[i]
		if thereAt(n, w.To) {
			out[MeasureNodes]++
		}
		if inside(n.Born) {
			out[MeasureJoined]++
		}
		if n.Ended && inside(n.Gone) {
			out[MeasureLost]++
		}
		for _, s := range drains(n) {
			if s.Began && inside(s.From) {
				out[MeasureDrains]++
			}
		}
		for _, s := range crashes(n) {
			if s.Began && inside(s.From) {
				out[MeasureCrashes]++
			}
		}
	}
}

// meter counts what comes in a world.
type meter struct {
	*counter
	born               []time.Duration // of each pod
	over               []bool
	nodes              int
	joined, lost, down int
}

func newMeter(h *observe.History, at time.Time, c *capacity.Cluster) *meter {
	m := &meter{counter: newCounter(lensOf(h, observe.Window{From: at, To: at.Add(c.Horizon)})), nodes: len(c.Nodes)}
	for range c.Pods {
		m.born, m.over = append(m.born, -1), append(m.over, false)
	}
	return m
}

func (m *meter) event(e workload.Event) {
	switch e.Kind {
	case workload.PodStarts:
		m.born, m.over = append(m.born, max(e.At, 1)), append(m.over, false)
	case workload.PodStops, workload.PodMarked, workload.PodRemoved:
		if !m.over[e.Pod] {
			m.over[e.Pod] = true
			m.pod(m.born[e.Pod], max(e.At, 1))
		}
	case workload.NodeJoins:
		m.joined++
		m.nodes++
	case workload.NodeDeleted:
		m.lost++
		m.nodes--
	case workload.NodeDown:
		m.down++
	}
}

func (m *meter) result() (out [measures]float64) {
	for pod, over := range m.over {
		if !over {
			m.pod(m.born[pod], m.whole+1)
		}
	}
	m.counter.result(&out)
	out[MeasureNodes], out[MeasureJoined], out[MeasureLost] = float64(m.nodes), float64(m.joined), float64(m.lost)
	out[MeasureCrashes] = float64(max(m.down-m.lost, 0))
	return out
}
