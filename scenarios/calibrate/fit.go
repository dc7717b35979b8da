// Package calibrate estimates the load of a plan from a cluster's data: how long pods run, how many start in each
// hour, how often nodes are drained, crash and are replaced, and how all of this grows. Each parameter has its data
// and an interval; if there are too few data, it is reported as such and nothing is guessed.
//
// Of calibrates on a history; Settings writes the result as settings of a plan; Backtest calibrates on the first
// part of a history and compares the prediction with the rest.
package calibrate

import (
	"errors"
	"time"

	"ipamsim/scenarios/calibrate/estimate"
	"ipamsim/scenarios/calibrate/observe"
)

// Fit is what a history says of a cluster's load.
type Fit struct {
	Window  observe.Window // of all that is known
	Horizon time.Duration  // of the plan that growth is for
	Notes   []observe.Note

	Nodes, Pods, Arrived, MaxPods int // at the end of the window; 0: not known

	Standing Lifetimes // of pods that are made again
	Arrivals Arrivals
	// PodTrend and NodeTrend are by how many pods (that are made again) and nodes there
	// are more from day to day.
	PodTrend, NodeTrend estimate.Trend
	Drain, Crash, Loss  Trouble
	// Drained: nodes that are lost were drained before.
	Drained bool
	// Restarts of containers, per hour and pod: they keep the pod's address.
	Restarts estimate.Rate

	Parameters []Parameter // in the order of a plan's settings
}

// Trouble is something that comes to nodes.
type Trouble struct {
	Rate estimate.Rate     // per hour and node that is in service
	For  estimate.Duration // hours
	Lack Lack
}

// ErrNothing: the data say nothing of any parameter.
var ErrNothing = errors.New("the data do not show a cluster's load")

// horizonDefault of growth.
const horizonDefault = 30 * 24 * time.Hour

// Of calibrates. horizon is that of the plan; 0 is HorizonDefault.
func Of(h *observe.History, horizon time.Duration) (*Fit, error) {
	f := &Fit{Window: h.All(), Horizon: horizon, Notes: h.Notes, MaxPods: h.MaxPods}
	if horizon == 0 {
		f.Horizon = horizonDefault
	}
	if len(h.Pods) == 0 && len(h.Nodes) == 0 {
		return nil, ErrNothing
	}
	f.population(h)
	f.pods(h)
	f.arrivals(h)
	f.nodes(h)
	if h.RestartsOf > 0 {
		f.Restarts = estimate.Rate{Count: float64(h.Restarts), Exposure: h.RestartsOf.Hours()}
	}
	f.parameters(h)
	return f, nil
}

// population counts what there is at the end, and how it has changed from day to day.
func (f *Fit) population(h *observe.History) {
	if n := len(h.Scans); n > 0 {
		standing, arrived := running(h, h.Windows[observe.PodEnds].To)
		f.Pods, f.Arrived = standing, arrived
		w := h.Windows[observe.PodEnds]
		if observe.Gap(h.Scans) <= 2*day {
			f.PodTrend = estimate.TrendOf(daily(observe.Window{From: later(w.From, h.Scans[0]), To: w.To}, func(t time.Time) float64 {
				n, _ := running(h, t)
				return float64(n)
			}))
		}
	}
	if n := len(h.NodeScans); n > 0 {
		w := h.Windows[observe.Nodes]
		f.Nodes = present(h, w.To)
		f.NodeTrend = estimate.TrendOf(daily(observe.Window{From: later(w.From, h.NodeScans[0]), To: w.To}, func(t time.Time) float64 { return float64(present(h, t)) }))
	}
}

const day = 24 * time.Hour

// daily are values a day apart, the last one at the end of the window.
func daily(w observe.Window, value func(time.Time) float64) (out []float64) {
	for n := int(w.Length() / day); n >= 0; n-- {
		out = append(out, value(w.To.Add(-time.Duration(n)*day)))
	}
	return out
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// running counts the pods at an instant: those that are made again, and the others.
func running(h *observe.History, t time.Time) (standing, arrived int) {
	for i := range h.Pods {
		if p := &h.Pods[i]; p.At(t) {
			if p.Owner.Remade() {
				standing++
			} else {
				arrived++
			}
		}
	}
	return standing, arrived
}

// present counts the nodes at an instant.
func present(h *observe.History, t time.Time) (n int) {
	for i := range h.Nodes {
		if thereAt(&h.Nodes[i], t) {
			n++
		}
	}
	return n
}

func thereAt(n *observe.Node, t time.Time) bool {
	from := n.First
	if !n.Born.IsZero() {
		from = n.Born
	}
	return !from.After(t) && !t.After(n.Last) && !(n.Ended && n.Gone.Equal(t))
}
