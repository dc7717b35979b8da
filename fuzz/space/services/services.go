// Package services generates worlds for Services and API servers.
package services

import (
	"fmt"
	"strings"
	"time"

	"sigs.k8s.io/yaml"

	"ipamsim/fuzz/space"
	"ipamsim/scenarios"
	"ipamsim/sim/cluster/action"
)

// Space is the space of Services.
var Space = space.Space{Name: "services", Forceless: true, Draw: func(w *space.World) { (&world{World: w}).draw() }}

// world is a world of Services during its generation.
type world struct {
	*space.World
	servers []string
	made    []string // names of Services
	dual    bool
}

// object is a manifest or a part of one.
type object = map[string]any

const (
	server  = "kube-apiserver"
	manager = "kube-controller-manager"
	ready   = 5 * time.Second // when API servers are ready
)

// draw draws a few Services with hardly more addresses and node ports than they need, so that
// released ones are assigned again, and one to three API servers. Some of these pause or end.
func (w *world) draw() {
	s := &w.Doc.Spec
	s.IPAM = "services"
	w.Machines(1, 1)
	w.Pace(30*time.Second, 8*time.Minute)
	s.Timers = scenarios.Timers{}
	for n := range space.Pick(w.Choices, 2, 1, 2, 3) {
		s.Daemons = append(s.Daemons, server)
		w.servers = append(w.servers, server)
		if n > 0 {
			w.servers[n] = fmt.Sprintf("%s~%d", server, n+1)
		}
	}
	if w.Chance(1, 4) {
		s.Daemons = append(s.Daemons, manager)
	}
	subnet, ports := w.ranges()
	for range w.Between(3, 12) {
		w.service(w.From(ready))
	}
	for range space.Pick(w.Choices, 0, 1, 0, 2) {
		w.disturb(w.From(ready))
	}
	w.Latencies()
	w.faults()
	w.MostlyTimed()
	if w.dual && w.Chance(1, 6) { // drawn last, so that it does not change the rest of a seed's world
		subnet = strings.Replace(subnet, "/125", "/64", 1)
	}
	w.configure(subnet, ports)
	w.Title()
}

// ranges draws the smallest possible ranges of addresses, of one family or both, and of node ports
// for the same number of Services.
func (w *world) ranges() (subnet, ports string) {
	subnet = fmt.Sprintf("10.96.0.0/%d", space.Pick(w.Choices, 29, 28, 29, 24, 30))
	if w.dual = w.Chance(1, 4); w.dual {
		subnet = space.Pick(w.Choices, subnet+",fd00:10:96::/125", "fd00:10:96::/125,"+subnet)
	}
	return subnet, space.Pick(w.Choices, "30000-30007", "30000-30003", "30000-30063")
}

// configure adds kubeadm's configuration with these ranges.
func (w *world) configure(subnet, ports string) {
	c := object{
		"apiVersion": "kubeadm.k8s.io/v1beta4", "kind": "ClusterConfiguration", "networking": object{"serviceSubnet": subnet},
		"apiServer": object{"extraArgs": []object{{"name": "service-node-port-range", "value": ports}}},
	}
	text, err := yaml.Marshal(c)
	if err != nil {
		panic(err) // strings and lists always marshal
	}
	w.Add(object{
		"apiVersion": "v1", "kind": "ConfigMap", "metadata": object{"name": "kubeadm-config", "namespace": "kube-system"},
		"data": object{"ClusterConfiguration": string(text)},
	})
}

// service draws an action on a Service: mostly a new one is created; some are deleted, created
// again with the same name, or change their type.
func (w *world) service(at time.Duration) {
	kind := w.Int(8)
	if len(w.made) == 0 || kind < 4 {
		w.create(at, fmt.Sprintf("svc-%d", len(w.made)+1))
		return
	}
	name := space.Pick(w.Choices, w.made...)
	switch kind {
	case 4, 5:
		w.delete(at, name)
		if w.Chance(1, 3) {
			w.create(at+time.Duration(w.Between(0, 4000))*time.Millisecond, name)
		}
	case 6:
		w.At(at, scenarios.Event{Action: &action.Patch{Resource: "services", Name: name, Merge: w.change()}})
	default:
		w.create(at, name) // again, like a controller that received no reply
	}
}

// change draws another type, or another policy of families.
func (w *world) change() object {
	if w.dual && w.Chance(1, 2) {
		return object{"spec": object{"ipFamilyPolicy": space.Pick(w.Choices, "RequireDualStack", "PreferDualStack")}}
	}
	switch w.Int(3) {
	case 0:
		return object{"spec": object{"type": "ExternalName", "externalName": "example.org", "clusterIP": nil, "clusterIPs": nil, "ipFamilies": nil, "ipFamilyPolicy": nil}}
	case 1:
		return object{"spec": object{"type": "NodePort"}}
	}
	return object{"spec": object{"type": "ClusterIP"}}
}

func (w *world) create(at time.Duration, name string) {
	w.made = append(w.made, name)
	if w.Chance(1, 3) { // by a particular server
		to := space.Pick(w.Choices, w.servers...)
		w.At(at, scenarios.Event{Action: &action.Command{Run: fmt.Sprintf("kubectl --server=%s create service %s %s --tcp=80", to, space.Pick(w.Choices, "clusterip", "nodeport"), name)}})
		return
	}
	spec := object{"ports": []object{{"port": 80}}, "selector": object{"app": name}}
	if w.Chance(1, 3) {
		spec["type"] = "NodePort"
	}
	if w.dual && w.Chance(2, 3) {
		spec["ipFamilyPolicy"] = space.Pick(w.Choices, "RequireDualStack", "PreferDualStack")
	}
	w.At(at, space.Applied(object{"apiVersion": "v1", "kind": "Service", "metadata": object{"name": name}, "spec": spec}))
}

func (w *world) delete(at time.Duration, name string) {
	if w.Chance(1, 3) {
		to := space.Pick(w.Choices, w.servers...)
		w.At(at, scenarios.Event{Action: &action.Command{Run: fmt.Sprintf("kubectl --server=%s delete service %s", to, name)}})
		return
	}
	w.At(at, scenarios.Event{Action: &action.Delete{Resource: "services", Name: name}})
}

// disturb pauses an API server, mostly near an action on a Service, or kills it.
func (w *world) disturb(at time.Duration) {
	if w.Chance(2, 3) {
		at = w.Shortly(50 * time.Millisecond)
	}
	who := space.Pick(w.Choices, w.servers...)
	if w.Chance(1, 4) {
		w.At(at, scenarios.Event{Action: &action.Kill{Actor: who}})
		return
	}
	w.At(at, scenarios.Event{Action: &action.Pause{Actor: who, For: space.Millis(w.Duration(time.Second, 2*time.Minute))}})
}

// faults are mostly those that matter: writes to etcd without a reply.
func (w *world) faults() {
	if w.Chance(1, 4) {
		w.Faults()
		return
	}
	f := &w.Doc.Spec.Faults
	if f.Max = space.Pick(w.Choices, 0, 1, 2, 4, 0); f.Max == 0 {
		return
	}
	f.Only = strings.Fields(space.Pick(w.Choices, "CREATE DELETE UPDATE", "CREATE", "CREATE DELETE"))
	w.Unanswered(.05, .2)
}
