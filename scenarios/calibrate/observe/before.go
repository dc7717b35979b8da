package observe

import "time"

// Before returns the history as it was known at an instant.
func (h *History) Before(t time.Time) *History {
	out := &History{MaxPods: h.MaxPods, Notes: h.Notes}
	for _, scan := range h.Scans {
		if !scan.After(t) {
			out.Scans = append(out.Scans, scan)
		}
	}
	for _, scan := range h.NodeScans {
		if !scan.After(t) {
			out.NodeScans = append(out.NodeScans, scan)
		}
	}
	for a, w := range h.Windows {
		if out.Windows[a] = w.Cut(Window{w.From, t}); w.From.Equal(w.To) && !w.To.After(t) {
			out.Windows[a] = w
		}
	}
	if all := h.Windows[PodEnds].Length(); all > 0 {
		out.Logged = time.Duration(float64(h.Logged) * float64(out.Windows[PodEnds].Length()) / float64(all))
	}
	for _, p := range h.Pods {
		switch {
		case p.Entered.IsZero() && (!p.Ended || p.Gone.After(t)), p.Entered.After(t):
			continue // not known yet
		case p.Ended && p.Gone.After(t):
			p.Ended, p.Gone = false, time.Time{}
		}
		if !p.Ended {
			p.Last = earlier(p.Last, t)
		}
		out.Pods = append(out.Pods, p)
	}
	for _, n := range h.Nodes {
		if n.First.After(t) {
			continue
		}
		if n.Ended && n.Gone.After(t) {
			n.Ended, n.Gone = false, time.Time{}
		}
		if !n.Ended {
			n.Last = earlier(n.Last, t)
		}
		n.Cordons, n.Silences = before(n.Cordons, t), before(n.Silences, t)
		out.Nodes = append(out.Nodes, n)
	}
	return out
}

func before(all []Span, t time.Time) (out []Span) {
	for _, s := range all {
		if s.From.After(t) {
			continue
		}
		if s.To.After(t) {
			s.To, s.Over = t, false
		}
		out = append(out, s)
	}
	return out
}
