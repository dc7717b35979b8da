package calibrate

import (
	"cmp"
	"slices"
	"time"

	"ipamsim/scenarios/calibrate/observe"
)

// forces are the times in which pods are evicted from each node: it is drained, silent or gone. A plan
// simulates that itself, so the lifetime of a pod that ends then is censored: counting it would drain
// the node twice.
type forces map[string][]observe.Window

// removal is how long it takes until pods are gone after their node is, or is back.
//
// Source: k8s.io/kubernetes, defaulttolerationseconds (300 s), podgc (40 s).
const removal = 10 * time.Minute

func forcesOf(h *observe.History) forces {
	out := forces{}
	for i := range h.Nodes {
		n := &h.Nodes[i]
		var all []observe.Window
		for _, s := range n.Cordons {
			all = append(all, observe.Window{From: s.From, To: s.To})
		}
		for _, s := range n.Silences {
			all = append(all, observe.Window{From: s.From, To: s.To.Add(removal)})
		}
		if n.Ended {
			all = append(all, observe.Window{From: n.Last, To: n.Gone.Add(removal)})
		}
		slices.SortFunc(all, func(a, b observe.Window) int { return cmp.Compare(a.From.UnixNano(), b.From.UnixNano()) })
		out[n.Name] = all
	}
	return out
}

// took reports whether a pod ended because of its node, or might have.
func (f forces) took(p *observe.Pod) bool {
	return slices.ContainsFunc(f[p.Node], func(w observe.Window) bool { return !w.From.After(p.Gone) && !p.Last.After(w.To) })
}
