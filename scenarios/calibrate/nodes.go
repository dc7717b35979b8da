package calibrate

import (
	"slices"
	"time"

	"ipamsim/model/capacity/workload"
	"ipamsim/scenarios/calibrate/estimate"
	"ipamsim/scenarios/calibrate/observe"
)

// nodes fits what happens to them.
func (f *Fit) nodes(h *observe.History) {
	f.Drain = f.spans(h, observe.Cordons, 0, drains)
	f.Crash = f.spans(h, observe.Ready, workload.EvictDefault, crashes)
	f.Loss = f.losses(h)
}

// drains are the cordons of a node, but for the one that it went with: that is a loss.
func drains(n *observe.Node) (out []observe.Span) {
	for _, s := range n.Cordons {
		if s.Over || !n.Ended {
			out = append(out, s)
		}
	}
	return out
}

// crashes are the silences of a node that took its pods away, but for the one that it went
// with, and those while it was being drained: it may be switched off then. A plan's crash
// always lasts for crashFor; a mean of reboots and of long outages would evict in both.
func crashes(n *observe.Node) (out []observe.Span) {
	for _, s := range n.Silences {
		if s.To.Sub(s.From) <= workload.EvictDefault {
			continue
		}
		if (s.Over || !n.Ended) && !slices.ContainsFunc(n.Cordons, func(c observe.Span) bool { return !s.From.Before(c.From) && !s.From.After(c.To) }) {
			out = append(out, s)
		}
	}
	return out
}

// serving is for how long nodes were in service within a window, in hours.
func serving(h *observe.History, w observe.Window) (sum float64) {
	for i := range h.Nodes {
		sum += servingOf(&h.Nodes[i], w)
	}
	return sum
}

func servingOf(n *observe.Node, w observe.Window) float64 {
	from := n.First
	if !n.Born.IsZero() {
		from = n.Born
	}
	there := observe.Window{From: from, To: n.Last}.Cut(w)
	sum := there.Length().Hours()
	for _, s := range slices.Concat(n.Cordons, crashes(n)) {
		sum -= observe.Window{From: s.From, To: s.To}.Cut(there).Length().Hours()
	}
	return max(sum, 0)
}

// spans fits how often something begins, and how long it lasts, which is least or longer.
func (f *Fit) spans(h *observe.History, a observe.Aspect, least time.Duration, of func(*observe.Node) []observe.Span) (t Trouble) {
	w := h.Windows[a]
	if t.Lack = f.nodeLack(h, w); t.Lack != (Lack{}) {
		return t
	}
	t.Rate.Exposure = serving(h, w)
	var over, open []float64
	var began []time.Time
	for i := range h.Nodes {
		for _, s := range of(&h.Nodes[i]) {
			if !s.Began || s.From.Before(w.From) || s.From.After(w.To) {
				continue
			}
			began = append(began, s.From)
			if long := (s.To.Sub(s.From) - least).Hours(); s.Over {
				over = append(over, long)
			} else {
				open = append(open, long)
			}
		}
	}
	t.Rate.Count, t.For = float64(len(began)), estimate.DurationOf(over, open)
	t.For.Least = least.Hours()
	t.Rate.Phi = weekly(h, w, began, t.Rate)
	if len(began) < eventsMin {
		t.Lack = Lack{What: LackEvents, Have: len(began), Want: eventsMin}
	}
	return t
}

// nodeLack says why nothing can be said of nodes within a window.
func (f *Fit) nodeLack(h *observe.History, w observe.Window) Lack {
	switch {
	case len(h.NodeScans) == 0:
		return Lack{What: LackNodes}
	case w.Length() < time.Hour:
		return Lack{What: LackTime, Time: w.Length(), WantTime: time.Hour}
	case observe.Gap(h.NodeScans) > observe.Fine && h.Logged < w.Length()*9/10:
		return Lack{What: LackClose, Time: observe.Gap(h.NodeScans), WantTime: observe.Fine}
	}
	return Lack{}
}

// weekly is how much more the counts of weeks vary than those of a Poisson process do:
// upgrades drain all nodes in one, and none in the next.
func weekly(h *observe.History, w observe.Window, all []time.Time, r estimate.Rate) float64 {
	n := int(w.Length() / (7 * day))
	if n < 8 {
		return 1
	}
	counts, expected := make([]float64, n), make([]float64, n)
	for _, t := range all {
		if i := int(t.Sub(w.From) / (7 * day)); i < n {
			counts[i]++
		}
	}
	for i := range expected {
		part := observe.Window{From: w.From.Add(time.Duration(i) * 7 * day), To: w.From.Add(time.Duration(i+1) * 7 * day)}
		expected[i] = serving(h, part) * r.Per()
	}
	return estimate.Dispersion(counts, expected, 1)
}

// losses fits how often a node is lost permanently, and how long it takes until another replaces it:
// the next one that joins, or one that joined up to half an hour before. Other joins are growth.
func (f *Fit) losses(h *observe.History) (t Trouble) {
	w := h.Windows[observe.Nodes]
	if n := len(h.NodeScans); n == 0 || n < 2 && h.Logged < w.Length()*9/10 || w.Length() == 0 {
		t.Lack = Lack{What: LackScans, Have: len(h.NodeScans), Want: 2}
		return t
	}
	t.Rate.Exposure = serving(h, w)
	var gone, joined []time.Time
	drained := 0
	for i := range h.Nodes {
		n := &h.Nodes[i]
		if n.Ended && !n.Gone.After(w.To) {
			gone = append(gone, n.Gone)
			if k := len(n.Cordons); k > 0 && !n.Cordons[k-1].Over {
				drained++
			}
		}
		if n.Born.After(w.From) && !n.Born.After(w.To) {
			joined = append(joined, n.Born)
		}
	}
	slices.SortFunc(gone, time.Time.Compare)
	slices.SortFunc(joined, time.Time.Compare)
	var gaps []float64
	for _, g := range gone {
		i, _ := slices.BinarySearchFunc(joined, g.Add(-30*time.Minute), time.Time.Compare)
		if i < len(joined) {
			gaps = append(gaps, max(joined[i].Sub(g).Hours(), 1./60))
			joined = slices.Delete(joined, i, i+1)
		}
	}
	t.Rate.Count, t.For = float64(len(gone)), estimate.DurationOf(gaps, nil)
	t.Rate.Phi = weekly(h, w, gone, t.Rate)
	f.Drained = drained*2 > len(gone)
	if len(gone) < eventsMin {
		t.Lack = Lack{What: LackEvents, Have: len(gone), Want: eventsMin}
	}
	return t
}
