// Package whereabouts generates worlds for Whereabouts.
package whereabouts

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"ipamsim/fuzz/space"
	"ipamsim/scenarios"
	"ipamsim/sim/cluster/action"
)

// Space is the space of Whereabouts.
var Space = space.Space{Name: "whereabouts", Draw: func(w *space.World) { (&world{World: w}).draw() }}

// world is a world of Whereabouts during its generation.
type world struct {
	*space.World
	nads []object // the NetworkAttachmentDefinitions; see attachments
}

// object is a manifest or a part of one.
type object = map[string]any

// draw draws a few nodes and pods with very small ranges.
func (w *world) draw() {
	w.Doc.Spec.IPAM = "whereabouts"
	w.Machines(1, 4)
	long := w.Chance(1, 16) // long enough for leaks to be detected during churn
	if long {
		w.Pace(75*time.Second, 2*time.Minute)
	} else {
		w.Pace(6*time.Second, 30*time.Second)
	}
	nets := w.attachments()
	w.Workloads(w.podCount(room(nets)), func() (map[string]string, object) { return w.attached(nets), nil })
	w.Churn()
	filled := w.prefill(nets)
	if !filled {
		w.Reconcilers("ip-reconciler")
	}
	if w.Chance(1, 4) {
		w.Doc.Spec.Daemons = append(w.Doc.Spec.Daemons, "pod-control-loop")
	}
	w.Operators(space.Act{Weight: 3, Do: w.repair(nets)})
	w.Latencies()
	w.Faults()
	w.Hazards()
	w.Strategy(space.Weight{Name: "timed", N: 40}, space.Weight{Name: "stall", N: 30}, space.Weight{Name: "random", N: 20}, space.Weight{Name: "pct", N: 5}, space.Weight{Name: "pos", N: 5})
	// With passes by hand only, leaked addresses are not released after the script.
	collected := len(w.Doc.Spec.Reconcilers) > 0 || filled && w.calm()
	if collected {
		// An ADD may take two minutes (types.AddTimeLimit), and is retried.
		w.Rest(3 * time.Minute)
	}
	if w.Doc.Spec.Settle.Duration > 0 {
		w.Doc.Spec.Judge.StuckAfter = space.Millis(150 * time.Second)
	}
	if long && collected {
		w.Doc.Spec.Judge.LeakAfter = space.Millis(leakMin)
	} else if collected && w.Chance(1, 2) {
		w.Doc.Spec.Judge.LeakAfter = space.Millis(w.Duration(leakMin, 3*time.Minute))
	}
	w.rarely()
	w.Title()
}

// podCount draws the number of pods: mostly at most the number of addresses, so that a run does not
// consist of refusals. One of twelve worlds has many pods.
func (w *world) podCount(room int) int {
	pods := space.Pick(w.Choices, w.Between(1, 3), w.Between(2, 5), w.Between(3, 7))
	if w.Chance(1, 12) {
		pods = w.Between(8, 14)
	}
	if w.Chance(1, 8) {
		return pods
	}
	return min(pods, room)
}

// calm reports whether every sandbox is removed by a DEL.
func (w *world) calm() bool {
	s := &w.Doc.Spec
	return s.Faults.Max == 0 && s.Hazards.Max == 0 && !slices.ContainsFunc(s.Timeline, func(e scenarios.Event) bool {
		switch a := e.Action.(type) {
		case *action.Crash, *action.Reboot, *action.Kill, *action.Partition, *action.Pause, *action.ReplaceNode:
			return true
		case *action.Delete:
			return a.Resource == "nodes"
		}
		return false
	})
}

// leakMin is longer than a DEL may take (types.DelTimeLimit, one minute).
const leakMin = 70 * time.Second

// attached draws the networks of a workload's pods: mostly one or two, occasionally one twice, or
// in Multus' long form.
func (w *world) attached(nets []network) map[string]string {
	var names []string
	for range space.Pick(w.Choices, 1, 1, 2, 1, 2, 3) {
		names = append(names, space.Pick(w.Choices, nets...).key())
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
