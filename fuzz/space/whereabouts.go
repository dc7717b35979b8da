package space

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"ipamsim/scenarios"
)

// whereabouts draws a world of Whereabouts: a few nodes and pods on tiny ranges.
func whereabouts(w *world) {
	w.doc.Spec.IPAM = "whereabouts"
	w.machines(1, 4)
	long := w.Chance(1, 16) // so long that what leaks under churn is judged under churn
	if long {
		w.pace(75*time.Second, 2*time.Minute)
	} else {
		w.pace(6*time.Second, 30*time.Second)
	}
	nets := w.attachments()
	w.workloads(w.crew(room(nets)), func() (map[string]string, object) { return w.attached(nets), nil })
	w.churn()
	filled := w.prefill(nets)
	if !filled {
		w.reconcilers("ip-reconciler")
	}
	if w.Chance(1, 4) {
		w.doc.Spec.Daemons = append(w.doc.Spec.Daemons, "pod-control-loop")
	}
	w.operators(act{3, w.repair(nets)})
	w.latencies()
	w.faults()
	w.hazards()
	w.strategy(weight{"timed", 40}, weight{"stall", 30}, weight{"random", 20}, weight{"pct", 5}, weight{"pos", 5})
	// Where only an operator's passes reconcile, nobody gives back what is lost after.
	collected := len(w.doc.Spec.Reconcilers) > 0 || filled && w.calm()
	if collected {
		// An ADD may take two minutes (types.AddTimeLimit), and is tried again.
		w.rest(3 * time.Minute)
	}
	if w.doc.Spec.Settle.Duration > 0 {
		w.doc.Spec.Judge.StuckAfter = ms(150 * time.Second)
	}
	if long && collected {
		w.doc.Spec.Judge.LeakAfter = ms(leakMin)
	} else if collected && w.Chance(1, 2) {
		w.doc.Spec.Judge.LeakAfter = ms(w.Duration(leakMin, 3*time.Minute))
	}
	w.unset()
	w.uncommon(rareNetworks)
	w.title()
}

// crew draws how many pods there are: mostly no more than there are addresses, so
// that a run is not spent on refusals. One world in twelve has many.
func (w *world) crew(room int) int {
	pods := Pick(w.Choices, w.Between(1, 3), w.Between(2, 5), w.Between(3, 7))
	if w.Chance(1, 12) {
		pods = w.Between(8, 14)
	}
	if w.Chance(1, 8) {
		return pods
	}
	return min(pods, room)
}

// calm reports whether nothing takes a sandbox away without its DEL.
func (w *world) calm() bool {
	s := &w.doc.Spec
	return s.Faults.Max == 0 && s.Hazards.Max == 0 && !slices.ContainsFunc(s.Timeline, func(e scenarios.Event) bool {
		return e.Crash != nil || e.Reboot != nil || e.Kill != nil || e.Partition != nil || e.Pause != nil || e.Replace != nil ||
			e.Delete != nil && e.Delete.Resource == "nodes"
	})
}

// leakMin is longer than a DEL may take (types.DelTimeLimit, one minute).
const leakMin = 70 * time.Second

// attached draws which networks a workload's pods ask for: mostly one or two, now
// and then one twice, or in Multus' long form.
func (w *world) attached(nets []network) map[string]string {
	var names []string
	for range Pick(w.Choices, 1, 1, 2, 1, 2, 3) {
		names = append(names, Pick(w.Choices, nets...).key())
	}
	text := strings.Join(names, ", ")
	if w.Chance(1, 8) {
		for i, n := range names {
			ns, name, _ := strings.Cut(n, "/")
			names[i] = fmt.Sprintf(`{"name": %q, "namespace": %q, "interface": "eth%d"}`, name, ns, i+1)
		}
		text = "[" + strings.Join(names, ", ") + "]"
	}
	return map[string]string{"k8s.v1.cni.cncf.io/networks": text}
}
