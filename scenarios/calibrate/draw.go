package calibrate

import (
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"ipamsim/model"
	"ipamsim/model/capacity"
	"ipamsim/model/capacity/workload"
	"ipamsim/scenarios/calibrate/estimate"
	"ipamsim/scenarios/calibrate/observe"
)

// world is a cluster that goes on from an instant as it may, by what is known then: each
// parameter drawn from where it may lie. What rests on few data is drawn from a wide
// band, so that nothing is too little for it.
func (f *Fit) world(h *observe.History, from time.Time, horizon time.Duration, src *rand.Rand) *capacity.Cluster {
	c := &capacity.Cluster{Workload: workload.Workload{Horizon: horizon, Samples: 2}}
	at := map[string]bool{}
	for i := range h.Nodes {
		if n := &h.Nodes[i]; thereAt(n, from) {
			c.Nodes = append(c.Nodes, workload.Node{Name: n.Name})
			at[n.Name] = true
		}
	}
	if len(c.Nodes) == 0 {
		c.Nodes = []workload.Node{{Name: "node"}}
	}
	c.Load = workload.Load{
		MaxPods:   1 << 20, // whatever came found room
		Lifetimes: f.Standing.draw(src), Begins: intoWeek(from),
	}
	if !f.Standing.Known() && f.Standing.Rest.Count == 0 {
		c.Load.Lifetimes = workload.Lifetimes{}
	}
	f.residents(c, h, from)
	days := horizon.Hours() / 24
	if grow := int(math.Round(f.PodTrend.DrawLine(src, days))); f.Pods > 0 {
		c.Load.GrowPods = max(grow, -f.Pods)
	}
	if f.NodeTrend.Steps >= daysMin {
		c.Load.Grow = max(int(math.Round(f.NodeTrend.Draw(src, days))), 0)
	}
	if a := &f.Arrivals; f.knowsArrivals() {
		c.Load.Arrivals = workload.Arrivals{PerHour: a.Rate.Draw(src) * a.unsteady(horizon, src), Batch: a.Batch, Hours: a.ByHour, Weekdays: a.ByWeekday, Lifetimes: a.Lifetimes.draw(src), Running: max(f.Arrived, 1)}
	}
	trouble := func(t *Trouble, every, lasts *time.Duration) {
		if t.Rate.Exposure <= 0 {
			return
		}
		*every, *lasts = settable(hours(1/max(t.Rate.Draw(src), 1e-9))), time.Minute
		if t.For.Count > 0 {
			*lasts = settable(hours(t.For.Draw(src)))
		}
	}
	t := &c.Trouble
	trouble(&f.Drain, &t.DrainEvery, &t.DrainFor)
	trouble(&f.Crash, &t.CrashEvery, &t.CrashFor)
	trouble(&f.Loss, &t.ReplaceEvery, &t.ReplaceFor)
	t.ReplaceDrained = f.Drained
	return c
}

// knowsArrivals reports whether they can be drawn.
func (f *Fit) knowsArrivals() bool {
	return f.Arrivals.Rate.Count > 0 && f.Arrivals.Lifetimes.Known() && f.Arrivals.Lack == (Lack{})
}

// unsteady is by what factor more or fewer may come over a horizon than a steady rate lets
// expect, with a mean of 1: days vary more than the batches of a plan do, and those to
// come will as those before did.
func (a *Arrivals) unsteady(horizon time.Duration, src *rand.Rand) float64 {
	excess := max(a.Rate.Phi, 1) - (2*a.Batch - 1)
	if excess <= 0 {
		return 1
	}
	shape := a.Rate.Per() * horizon.Hours() / excess
	return estimate.Rate{Count: shape - 0.5, Exposure: shape}.Draw(src)
}

// residents are the pods that run at an instant, with their ages.
func (f *Fit) residents(c *capacity.Cluster, h *observe.History, from time.Time) {
	for i := range h.Pods {
		p := &h.Pods[i]
		arrived := !p.Owner.Remade()
		if !p.At(from) || arrived && !f.knowsArrivals() {
			continue
		}
		n := len(c.Pods)
		c.Pods = append(c.Pods, workload.Resident{
			Ref:  model.PodRef{Namespace: "observed", Name: fmt.Sprint(n)},
			Node: c.Nodes[n%len(c.Nodes)].Name, Age: max(from.Sub(p.Born), time.Second), Arrived: arrived,
		})
		if !arrived {
			c.Load.Pods++
		}
	}
}

// draw is a distribution that may be the true one: the hazard of each segment is drawn by
// itself.
func (l *Lifetimes) draw(src *rand.Rand) (out workload.Lifetimes) {
	cum := 0.0
	for i, s := range l.Segments {
		h := max(s.Draw(src), 1e-9)
		if i == len(l.Segments)-1 {
			out.Rest = max(hours(1/h), time.Second)
			break
		}
		from := 0.0
		if i > 0 {
			from = l.Segments[i-1].To
		}
		cum += h * (s.To - from)
		m := workload.Mark{Share: -math.Expm1(-cum), By: hours(s.To)}
		last := len(out.Marks) - 1
		if m.Share < 1-1e-12 && (last < 0 || m.Share > out.Marks[last].Share && m.By > out.Marks[last].By) {
			out.Marks = append(out.Marks, m)
		}
	}
	return out
}
