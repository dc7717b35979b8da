// Package metallb generates worlds for MetalLB.
package metallb

import (
	"fmt"
	"maps"
	"time"

	"ipamsim/fuzz/space"
	"ipamsim/scenarios"
	"ipamsim/sim/cluster/action"
)

// Space is the space of Services of type LoadBalancer.
var Space = space.Space{Name: "metallb", Forceless: true, Draw: func(w *space.World) { (&world{World: w}).draw() }}

// world is a world of Services during its generation.
type world struct {
	*space.World
	made []string // names of Services
	dual bool     // pool external has addresses of both families
}

// object is a manifest or a part of one.
type object = map[string]any

// The controller, the namespace of its pools, the pools, and when the controller is ready.
const (
	controller = "metallb-controller"
	namespace  = "metallb-system"
	external   = "external" // the pool for every Service
	more       = "more"     // another pool
	ready      = 5 * time.Second
)

// draw draws a few Services with hardly more addresses than they need, pools that change, and a
// controller that ends or pauses, occasionally with a second one beside it: it has no leader
// election.
func (w *world) draw() {
	s := &w.Doc.Spec
	s.IPAM, s.Daemons = "metallb", []string{controller}
	w.Machines(1, 1)
	w.Pace(30*time.Second, 8*time.Minute)
	s.Timers = scenarios.Timers{}
	w.pools()
	for range w.Between(3, 10) {
		w.service(w.From(ready))
	}
	for range space.Pick(w.Choices, 0, 1, 0, 2) {
		w.edit(w.From(ready))
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

// rest is longer than the controller's back-off before it reads all Services again, and than the
// time limits of the invariants.
const rest = 20 * time.Minute

// pools draws one or two pools of a few addresses.
func (w *world) pools() {
	w.dual = w.Chance(1, 4)
	w.pool(external, w.spec(w.addresses()))
	if w.Chance(1, 2) {
		w.pool(more, w.second())
	}
}

func (w *world) pool(name string, spec object) {
	w.Add(object{"apiVersion": "metallb.io/v1beta1", "kind": "IPAddressPool", "metadata": object{"name": name, "namespace": namespace}, "spec": spec})
}

func (w *world) spec(addresses ...string) object {
	spec := object{"addresses": addresses}
	if w.dual {
		spec["addresses"] = append(addresses, space.Pick(w.Choices, "fd00:9::/126", "fd00:9::/125"))
	}
	if w.Chance(1, 6) {
		spec["avoidBuggyIPs"] = true
	}
	return spec
}

// addresses draws the addresses of pool external.
func (w *world) addresses() string {
	return space.Pick(w.Choices, "10.9.0.0/30", "10.9.0.0/29", "10.9.0.0/31", "10.9.0.1-10.9.0.3", "10.9.0.2/31", "10.9.0.0/28")
}

// second draws another pool: for every Service, for those that request it, or for some.
func (w *world) second() object {
	spec := object{"addresses": []string{"10.9.1.0/30"}}
	some := object{}
	switch w.Int(5) {
	case 0:
		spec["autoAssign"] = false
	case 1:
		some["namespaces"] = space.Pick(w.Choices, []string{"default"}, []string{"other"}, []string{"default", "other"})
	case 2:
		some["serviceSelectors"] = labelled("tier", "gold")
	case 3:
		some["namespaceSelectors"] = labelled("kubernetes.io/metadata.name", space.Pick(w.Choices, "default", namespace))
	}
	if len(some) > 0 {
		if n := w.Int(4); n > 0 {
			some["priority"] = n
		}
		spec["serviceAllocation"] = some
	}
	return spec
}

// labelled returns a selector for a label.
func labelled(key, value string) []object {
	return []object{{"matchLabels": object{key: value}}}
}

// service draws an action on a Service: mostly a new one is created; some are deleted, created
// again with the same name, request an address or a pool, share an address or no longer do, or
// change their type.
func (w *world) service(at time.Duration) {
	kind := w.Int(9)
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
		w.patch(at, name, object{"metadata": object{"annotations": w.asks()}})
	case 7:
		w.patch(at, name, w.terms())
	default:
		w.patch(at, name, object{"spec": object{"type": space.Pick(w.Choices, "ClusterIP", "LoadBalancer", "NodePort")}})
	}
}

func (w *world) patch(at time.Duration, name string, merge object) {
	w.At(at, scenarios.Event{Action: &action.Patch{Resource: "services", Name: name, Merge: merge}})
}

// The annotations of Services.
const (
	loadBalancerIPs = "metallb.io/loadBalancerIPs"
	addressPool     = "metallb.io/address-pool"
	allowSharedIP   = "metallb.io/allow-shared-ip"
)

// asks draws annotations: a requested address, a pool, a sharing key, or none.
func (w *world) asks() object {
	switch w.Int(5) {
	case 0:
		return object{loadBalancerIPs: fmt.Sprintf("10.9.0.%d", w.Int(6)), addressPool: nil}
	case 1:
		return object{loadBalancerIPs: nil, addressPool: space.Pick(w.Choices, external, more)}
	case 2:
		return object{loadBalancerIPs: "10.9.1.1", addressPool: nil}
	case 3:
		return object{allowSharedIP: space.Pick(w.Choices, "one", "two")}
	}
	return object{loadBalancerIPs: nil, addressPool: nil, allowSharedIP: nil}
}

// terms changes the conditions for sharing of a Service: its key, its backends or its port.
func (w *world) terms() object {
	switch w.Int(3) {
	case 0:
		return object{"metadata": object{"annotations": object{allowSharedIP: space.Pick[any](w.Choices, "one", "two", nil)}}}
	case 1:
		return object{"spec": object{"externalTrafficPolicy": space.Pick(w.Choices, "Local", "Cluster")}}
	}
	return object{"spec": object{"ports": w.ports()}}
}

func (w *world) ports() []object {
	return space.Pick(w.Choices, []object{{"port": 80}}, []object{{"port": 443}}, []object{{"port": 53, "protocol": "UDP"}})
}

func (w *world) create(at time.Duration, name string) {
	w.made = append(w.made, name)
	spec := object{"type": "LoadBalancer", "ports": w.ports(), "selector": object{"app": name}}
	if w.dual && w.Chance(2, 3) {
		spec["ipFamilyPolicy"] = space.Pick(w.Choices, "RequireDualStack", "PreferDualStack")
	}
	if w.Chance(1, 6) {
		spec["externalTrafficPolicy"] = "Local"
	}
	meta, notes := object{"name": name}, object{}
	if w.Chance(1, 4) {
		meta["labels"] = object{"tier": "gold"}
	}
	if w.Chance(1, 3) {
		notes[allowSharedIP] = space.Pick(w.Choices, "one", "one", "two")
	}
	if w.Chance(1, 6) {
		maps.Copy(notes, w.asks())
		maps.DeleteFunc(notes, func(_ string, v any) bool { return v == nil }) // a new Service has nothing to remove
	}
	if len(notes) > 0 {
		meta["annotations"] = notes
	}
	w.At(at, space.Applied(object{"apiVersion": "v1", "kind": "Service", "metadata": meta, "spec": spec}))
}

// edit draws an action on the pools: the addresses of external change, possibly to some of the
// other pool's, or the way in which it assigns them; the other pool is deleted, or created again.
func (w *world) edit(at time.Duration) {
	on := func(name string, spec object) scenarios.Event {
		return scenarios.Event{Action: &action.Patch{Resource: "ipaddresspools", Namespace: namespace, Name: name, Merge: object{"spec": spec}}}
	}
	switch w.Int(6) {
	case 0, 1:
		w.At(at, on(external, w.spec(w.addresses())))
	case 2:
		w.At(at, on(external, object{"addresses": []string{w.addresses(), "10.9.1.0/31"}}))
		w.At(at+w.Duration(time.Second, time.Minute), on(external, object{"addresses": []string{w.addresses()}}))
	case 3:
		w.At(at, on(external, object{"autoAssign": w.Chance(1, 2)}))
	case 4:
		w.At(at, scenarios.Event{Action: &action.Delete{Resource: "ipaddresspools", Namespace: namespace, Name: more}})
	default:
		w.At(at, space.Applied(object{
			"apiVersion": "metallb.io/v1beta1", "kind": "IPAddressPool", "metadata": object{"name": more, "namespace": namespace}, "spec": w.second(),
		}))
	}
}

// disturb pauses the controller, mostly near an action on a Service, kills it, or starts a second
// one beside it.
func (w *world) disturb(at time.Duration) {
	if w.Chance(1, 2) {
		at = w.Shortly(2 * time.Second)
	}
	switch w.Int(7) {
	case 0, 1, 2:
		w.At(at, scenarios.Event{Action: &action.Kill{Actor: controller}})
	case 3, 4, 5:
		w.At(at, scenarios.Event{Action: &action.Pause{Actor: controller, For: space.Millis(w.Duration(time.Second, 2*time.Minute))}})
	default:
		w.At(at, scenarios.Event{Action: &action.Second{Daemon: controller, For: space.Millis(w.Duration(time.Second, 20*time.Second))}})
	}
}
