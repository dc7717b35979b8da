// Package nodeipam generates worlds for Kubernetes' node IPAM.
package nodeipam

import (
	"fmt"
	"strings"
	"time"

	"ipamsim/fuzz/space"
	"ipamsim/scenarios"
	"ipamsim/sim/cluster/action"
)

// Space is the space of node IPAM.
var Space = space.Space{Name: "nodeipam", Forceless: true, Draw: func(w *space.World) { (&world{World: w}).draw() }}

// world is a world of node IPAM during its generation.
type world struct {
	*space.World
	came int  // number of Node objects that were applied
	pods bool // the world has pods
}

// object is a manifest or a part of one.
type object = map[string]any

const manager = "kube-controller-manager"

// draw draws a few nodes with hardly more ranges than they need, so that released ranges are
// assigned again, and an autoscaler that replaces nodes.
func (w *world) draw() {
	w.Doc.Spec.IPAM = "nodeipam"
	w.Machines(2, 5)
	w.Pace(20*time.Second, 4*time.Minute)
	args := w.elects()
	w.configure(args)
	if w.pods = w.Chance(1, 4); w.pods {
		w.Workloads(w.Between(1, 4), func() (map[string]string, object) { return nil, nil })
	}
	for range w.Between(1, 6) {
		w.node(w.Time())
	}
	w.Latencies()
	w.faults()
	w.Hazards()
	w.Strategy(space.Weight{Name: "timed", N: 40}, space.Weight{Name: "stall", N: 25}, space.Weight{Name: "random", N: 25}, space.Weight{Name: "pct", N: 5}, space.Weight{Name: "pos", N: 5})
	if s := &w.Doc.Spec; s.Strategy == "timed" && !w.pods && len(s.Daemons) == 1 && w.Chance(1, 2) {
		s.Settle = space.Millis(rest)
	}
	w.Title()
}

// rest is longer than upstream's back-off after the longest script: a node that still waits then is never
// served.
const rest = 25 * time.Minute

// elects draws the number of kube-controller-managers and the flags of their leader election. A
// single one mostly has no election, because its lease would be renewed every two seconds.
func (w *world) elects() []object {
	w.Doc.Spec.Daemons = []string{manager}
	if !w.Chance(1, 3) {
		return []object{flag("leader-elect", "false")}
	}
	if w.Chance(3, 4) {
		w.Doc.Spec.Daemons = append(w.Doc.Spec.Daemons, manager)
	}
	if w.Chance(1, 2) {
		return nil
	}
	return []object{flag("leader-elect-lease-duration", "6s"), flag("leader-elect-renew-deadline", "4s"), flag("leader-elect-retry-period", "1s")}
}

func flag(name, value string) object { return object{"name": name, "value": value} }

// configure draws the cluster's ranges: between half and twice as many as there are nodes, of one
// family or both, some overlapping with those of Services.
func (w *world) configure(args []object) {
	bits := space.Pick(w.Choices, 2, 2, 3, 1, 4)
	var pods, services []string
	families := space.Pick(w.Choices, "4", "4", "46", "6", "64")
	for _, f := range families {
		switch {
		case f == '6':
			pods = append(pods, fmt.Sprintf("fd00:10:244::/%d", 64-bits))
			services = append(services, "fd00:10:96::/112")
		case w.Chance(1, 6): // the first node ranges are those of Services
			pods = append(pods, fmt.Sprintf("10.244.0.0/%d", 24-bits-1))
			services = append(services, fmt.Sprintf("10.244.0.0/%d", 24-bits))
		default:
			pods = append(pods, fmt.Sprintf("10.244.0.0/%d", 24-bits))
			services = append(services, "10.96.0.0/12")
		}
	}
	networking := object{"podSubnet": strings.Join(pods, ",")}
	if w.Chance(5, 6) {
		networking["serviceSubnet"] = strings.Join(services, ",")
	}
	c := object{"apiVersion": "kubeadm.k8s.io/v1beta4", "kind": "ClusterConfiguration", "networking": networking}
	if len(args) > 0 {
		c["controllerManager"] = object{"extraArgs": args}
	}
	w.Add(object{
		"apiVersion": "v1", "kind": "ConfigMap", "metadata": object{"name": "kubeadm-config", "namespace": "kube-system"},
		"data": object{"ClusterConfiguration": text(c)},
	})
}

// node draws an action on a node: mostly it is replaced; some join; some are deleted, if no pod on
// their machine could continue to use addresses that are assigned to others.
func (w *world) node(at time.Duration) {
	switch n := w.Node(); w.Int(8) {
	case 0, 1, 2, 3:
		w.Replace(at)
	case 4, 5:
		if !w.Left[n] && !w.pods {
			w.Leave(n)
			w.At(at, scenarios.Event{Action: &action.Delete{Resource: "nodes", Name: n}})
		}
	default:
		w.came++
		joins := object{"apiVersion": "v1", "kind": "Node", "metadata": object{"name": fmt.Sprintf("joins-%d", w.came)}}
		w.At(at, space.Applied(joins))
	}
}

// faults are mostly those that matter: lost and refused writes of podCIDRs.
func (w *world) faults() {
	if w.Chance(1, 3) {
		w.Faults()
		return
	}
	f := &w.Doc.Spec.Faults
	if f.Max = space.Pick(w.Choices, 0, 2, 4, 3); f.Max == 0 {
		return
	}
	f.Only = []string{"PATCH nodes"}
	w.Unanswered(.2, .4)
}
