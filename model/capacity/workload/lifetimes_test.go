package workload

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// mixed lifetimes: half of the pods end within an hour, some stay for weeks.
var mixed = Lifetimes{Marks: []Mark{{0.5, time.Hour}, {0.8, 10 * time.Hour}, {0.95, 100 * time.Hour}}, Rest: 300 * time.Hour}

// Drawn values have the given marks and the stated mean.
func TestLifetimesAreDrawnAsGiven(t *testing.T) {
	const n = 200_000
	r, h := rand.New(rand.NewPCG(1, 1)), hazardOf(&mixed)
	var drawn []float64
	sum := 0.0
	for range n {
		x := h.left(r, 0).Hours()
		drawn, sum = append(drawn, x), sum+x
	}
	slices.Sort(drawn)
	for _, m := range mixed.Marks {
		if got := drawn[int(m.Share*n)]; math.Abs(got/m.By.Hours()-1) > 0.03 {
			t.Errorf("%v of drawn end within %.2f h, want %s", m.Share, got, m.By)
		}
		if got := mixed.By(m.Share); (got - m.By).Abs() > time.Millisecond {
			t.Errorf("By(%v) is %s, want %s", m.Share, got, m.By)
		}
	}
	if mean := mixed.Mean().Hours(); math.Abs(sum/n/mean-1) > 0.02 {
		t.Errorf("a mean of %.2f h, said to be %.2f h", sum/n, mean)
	}
	if l := (Lifetimes{Rest: time.Hour}); l.Mean() != time.Hour {
		t.Errorf("exponential drawn around 1h: mean %s", l.Mean())
	}
}

// Pods that run at a given instant in a long-running cluster are biased towards long
// lifetimes, as renewal theory predicts for their ages.
func TestAgesAmongThoseThatRun(t *testing.T) {
	r, h := rand.New(rand.NewPCG(2, 2)), hazardOf(&mixed)
	// One place, lived in without a gap: the age at a fixed instant far away.
	const n = 20_000
	var lived, drawn []float64
	for range n {
		now, last := -5000*time.Hour, time.Duration(0)
		for now <= 0 {
			last = now
			now += h.left(r, 0)
		}
		lived = append(lived, -last.Hours())
		drawn = append(drawn, h.among(r).Hours())
	}
	slices.Sort(lived)
	slices.Sort(drawn)
	for _, q := range []float64{0.1, 0.25, 0.5, 0.75, 0.9} {
		if a, b := lived[int(q*n)], drawn[int(q*n)]; math.Abs(a/b-1) > 0.07 {
			t.Errorf("%v of those that run are younger than %.1f h, drawn: %.1f h", q, a, b)
		}
	}
}

// The number of arrivals in each hour follows its weight, and the batches have the given size.
func TestArrivalsComeAsTheyAreWeighed(t *testing.T) {
	a := Arrivals{PerHour: 12, Batch: 3, Hours: make([]float64, 24), Weekdays: []float64{1, 1, 1, 1, 1, 0, 0}, Lifetimes: Lifetimes{Rest: 30 * time.Minute}}
	a.Hours[9], a.Hours[10] = 1, 3
	c := &Workload{Horizon: 70 * 24 * time.Hour, Load: Load{Pods: 1, Arrivals: a, Begins: 5 * 24 * time.Hour}}
	for range 8 {
		c.Nodes = append(c.Nodes, Node{Name: string(rune('a' + len(c.Nodes)))})
	}
	c.Load.MaxPods = 1000
	var byHour [24]int
	days, came := map[int]bool{}, 0
	for e := range c.Trace(3).Events() {
		if e.Kind == PodStarts && e.At > time.Hour {
			at := c.Load.Begins + e.At
			byHour[int(at/time.Hour)%24]++
			days[int(at/(24*time.Hour))%7] = true
			came++
		}
	}
	if want := 12.0 * 70 * 24; math.Abs(float64(came)/want-1) > 0.1 {
		t.Errorf("%d came, want about %.0f", came, want)
	}
	if x := float64(byHour[10]) / float64(byHour[9]); x < 2.6 || x > 3.4 {
		t.Errorf("%v by hour: want three times as many at 10 as at 9", byHour)
	}
	if days[5] || days[6] || byHour[9]+byHour[10] != came {
		t.Errorf("on days %v, by hour %v: none is weighed but 9 and 10, Monday to Friday", days, byHour)
	}
}

// A cluster that grows or shrinks ends with the given number of pods, and nodes that are drained to
// be replaced lose none of their pods.
func TestPopulationGrowsAndShrinks(t *testing.T) {
	for _, grow := range []int{0, 40, -40} {
		c := &Workload{Horizon: 100 * 24 * time.Hour, Load: Load{Pods: 60, GrowPods: grow, Lifetimes: mixed}}
		c.Trouble = Trouble{ReplaceEvery: 20 * 24 * time.Hour, ReplaceFor: time.Hour, ReplaceDrained: true}
		for range 5 {
			c.Nodes = append(c.Nodes, Node{Name: string(rune('a' + len(c.Nodes)))})
		}
		running, lost, downs := 0, 0, 0
		for e := range c.Trace(7).Events() {
			switch e.Kind {
			case PodStarts:
				running++
			case PodStops:
				running--
			case PodMarked, PodRemoved:
				lost++
			case NodeDown:
				downs++
			}
		}
		if want := 60 + grow; running > want || running < want-3 {
			t.Errorf("growPods %d: %d pods run at the end, want %d", grow, running, want)
		}
		if lost > 0 || downs == 0 {
			t.Errorf("%d nodes were replaced, and %d pods were lost on them", downs, lost)
		}
	}
}
