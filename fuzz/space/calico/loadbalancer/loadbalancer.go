// Package loadbalancer generates worlds for Calico's LoadBalancer IPAM.
package loadbalancer

import (
	"fmt"
	"maps"
	"time"

	"ipamsim/fuzz/space"
	"ipamsim/scenarios"
	"ipamsim/sim/cluster/action"
)

// Space is the space of Services of type LoadBalancer.
var Space = space.Space{Name: "calico-lb", Forceless: true, Draw: func(w *space.World) { (&world{World: w}).draw() }}

// world is a world of Services during its generation.
type world struct {
	*space.World
	made []string // names of Services
	dual bool     // there are pools of both families
}

// object is a manifest or a part of one.
type object = map[string]any

// The controller, and when it is ready.
const (
	controller = "loadbalancer-controller"
	ready      = 5 * time.Second
)

// draw draws a few Services with hardly more addresses than they need, and a controller that ends
// or pauses. There is one: kube-controllers have no leader election, and Calico's manifest has a
// single replica.
func (w *world) draw() {
	s := &w.Doc.Spec
	s.IPAM, s.Daemons = "calico-lb", []string{controller}
	w.Machines(1, 1)
	w.Pace(30*time.Second, 8*time.Minute)
	s.Timers = scenarios.Timers{}
	w.pools()
	for range w.Between(3, 9) {
		w.service(w.From(ready))
	}
	for range space.Pick(w.Choices, 0, 1, 0, 2) {
		w.disturb(w.From(ready))
	}
	w.Latencies()
	w.MostlyUnanswered(.01, .05)
	w.MostlyTimed()
	if s.Strategy == "timed" {
		s.Settle = space.Millis(rest)
	}
	w.Title()
}

// rest is longer than three rounds of the controller.
const rest = 20 * time.Minute

// pools draws one or two pools of a few addresses, and occasionally one of IPv6.
func (w *world) pools() {
	w.pool("external", fmt.Sprintf("10.9.0.0/%d", space.Pick(w.Choices, 29, 30, 28)), "Automatic", space.Pick(w.Choices, 30, 29, 31))
	if w.Chance(1, 3) {
		w.pool("more", "10.9.1.0/29", space.Pick(w.Choices, "Automatic", "Manual"), 30)
	}
	if w.dual = w.Chance(1, 4); w.dual {
		w.pool("six", "fd00:9::/125", "Automatic", 126)
	}
}

func (w *world) pool(name, cidr, mode string, block int) {
	var bits int
	_, _ = fmt.Sscanf(cidr[len(cidr)-len("/29"):], "/%d", &bits)
	if bits > block && bits <= 32 {
		block = bits
	}
	w.Add(object{
		"apiVersion": "projectcalico.org/v3", "kind": "IPPool", "metadata": object{"name": name},
		"spec": object{"cidr": cidr, "blockSize": block, "allowedUses": []string{"LoadBalancer"}, "assignmentMode": mode, "nodeSelector": "all()"},
	})
}

// service draws an action on a Service: mostly a new one is created; some are deleted, created
// again with the same name, request a certain address or pool, or change their type.
func (w *world) service(at time.Duration) {
	kind := w.Int(8)
	if len(w.made) == 0 || kind < 4 {
		w.create(at, fmt.Sprintf("svc-%d", len(w.made)+1))
		return
	}
	name := space.Pick(w.Choices, w.made...)
	switch kind {
	case 4, 5:
		w.At(at, scenarios.Event{Action: &action.Delete{Resource: "services", Name: name}})
		if w.Chance(1, 2) {
			w.create(at+time.Duration(w.Between(0, 4000))*time.Millisecond, name)
		}
	case 6:
		w.At(at, scenarios.Event{Action: &action.Patch{Resource: "services", Name: name, Merge: object{"metadata": object{"annotations": w.asks()}}}})
	default:
		w.At(at, scenarios.Event{Action: &action.Patch{Resource: "services", Name: name, Merge: object{"spec": object{"type": space.Pick(w.Choices, "ClusterIP", "LoadBalancer", "NodePort")}}}})
	}
}

// asks draws annotations: a requested address, a pool, or none.
func (w *world) asks() object {
	address, pools := "projectcalico.org/loadBalancerIPs", "projectcalico.org/ipv4pools"
	switch w.Int(4) {
	case 0:
		return object{address: fmt.Sprintf(`["10.9.0.%d"]`, w.Int(6)), pools: nil}
	case 1:
		return object{address: nil, pools: space.Pick(w.Choices, `["external"]`, `["more"]`, `["10.9.1.0/29"]`)}
	case 2:
		return object{address: `["10.9.1.1"]`, pools: nil}
	}
	return object{address: nil, pools: nil}
}

func (w *world) create(at time.Duration, name string) {
	w.made = append(w.made, name)
	spec := object{"type": "LoadBalancer", "ports": []object{{"port": 80}}, "selector": object{"app": name}}
	if w.dual && w.Chance(2, 3) {
		spec["ipFamilyPolicy"] = space.Pick(w.Choices, "RequireDualStack", "PreferDualStack")
	}
	meta := object{"name": name}
	if w.Chance(1, 6) {
		asks := w.asks()
		maps.DeleteFunc(asks, func(_ string, v any) bool { return v == nil }) // a new Service has nothing to remove
		meta["annotations"] = asks
	}
	w.At(at, space.Applied(object{"apiVersion": "v1", "kind": "Service", "metadata": meta, "spec": spec}))
}

// disturb pauses the controller, mostly near an action on a Service, or kills it; it is then restarted.
func (w *world) disturb(at time.Duration) {
	if w.Chance(1, 2) {
		at = w.Shortly(2 * time.Second)
	}
	if w.Chance(1, 2) {
		w.At(at, scenarios.Event{Action: &action.Kill{Actor: controller}})
		return
	}
	w.At(at, scenarios.Event{Action: &action.Pause{Actor: controller, For: space.Millis(w.Duration(time.Second, 2*time.Minute))}})
}
