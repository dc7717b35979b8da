// Package hostlocal generates worlds for host-local.
package hostlocal

import (
	"encoding/json"
	"fmt"
	"time"

	"ipamsim/fuzz/space"
	"ipamsim/scenarios"
	"ipamsim/sim"
	"ipamsim/sim/cluster/action"
)

// Space is the space of host-local.
var Space = space.Space{Name: "host-local", Draw: func(w *space.World) { (&world{World: w}).draw() }}

// world is a world of host-local during its generation.
type world struct {
	*space.World
	networks []string // keys of the NetworkAttachmentDefinitions
	names    []string // names of all networks
	room     int      // addresses of a node in the smallest range
	memory   bool     // some data is in a tmpfs, on which no access fails
}

// object is a manifest or a part of one.
type object = map[string]any

// draw draws one to three nodes that lose power, with ranges of few addresses.
func (w *world) draw() {
	w.Doc.Spec.IPAM, w.room = "host-local", 100
	w.Machines(1, 3)
	w.Pace(10*time.Second, 90*time.Second)
	primary := w.Chance(1, 3)
	if primary {
		w.primary()
	}
	if !primary || w.Chance(1, 4) {
		for i := range space.Pick(w.Choices, 1, 1, 2) {
			w.attachment(i)
		}
	}
	w.Workloads(min(w.room, w.Between(1, 6)), func() (map[string]string, object) { return w.attached(), nil })
	w.Churn()
	w.Operators(space.Act{Weight: 6, Do: w.powerLoss}, space.Act{Weight: 2, Do: w.diskFault}, space.Act{Weight: 2, Do: w.restartRuntime}, space.Act{Weight: 4, Do: w.wipe})
	w.Latencies()
	w.faults()
	w.Hazards()
	w.MostlyTimed()
	w.Rest(3 * time.Minute)
	w.Title()
}

// section draws an ipam section with one range, or with one of each family.
func (w *world) section(i int) object {
	ipam := object{"type": "host-local"}
	if w.Chance(1, 6) {
		ipam["dataDir"], w.memory = "/run/cni-ipam-state", true // as in kind
	}
	if w.Chance(1, 3) {
		ipam["routes"] = []object{{"dst": "0.0.0.0/0"}}
	}
	first := w.subnet(i)
	switch w.Int(4) {
	case 0: // the older form
		ipam["subnet"] = first["subnet"]
		for k, v := range first {
			ipam[k] = v
		}
	case 1:
		ipam["ranges"] = [][]object{{first}, {{"subnet": fmt.Sprintf("fd00:10:%d::/%d", i, w.Between(120, 125))}}}
	default:
		ipam["ranges"] = [][]object{{first}}
	}
	return ipam
}

// subnet draws one range.
func (w *world) subnet(i int) object {
	bits := space.Pick(w.Choices, 29, 28, 24, 29)
	r := object{"subnet": fmt.Sprintf("10.1.%d.0/%d", i, bits)}
	room := 1<<(32-bits) - 3
	if w.Chance(1, 5) {
		from, to := w.Between(1, 3), w.Between(4, 6)
		r["rangeStart"], r["rangeEnd"] = fmt.Sprintf("10.1.%d.%d", i, from), fmt.Sprintf("10.1.%d.%d", i, to)
		room = to - from
	}
	if w.Chance(1, 5) {
		r["gateway"] = fmt.Sprintf("10.1.%d.%d", i, space.Pick(w.Choices, 1, 5))
	}
	w.room = min(w.room, room)
	return r
}

// attachment draws a NetworkAttachmentDefinition whose interfaces are connected only within their node.
func (w *world) attachment(i int) {
	name := fmt.Sprintf("net%d", i+1)
	conf := object{"cniVersion": "1.0.0", "name": name, "type": w.plugin(), "ipam": w.section(i)}
	if w.Chance(1, 6) {
		conf = object{"cniVersion": "1.0.0", "name": name, "plugins": []object{conf, {"type": "portmap"}}}
	}
	w.Add(object{
		"apiVersion": "k8s.cni.cncf.io/v1", "kind": "NetworkAttachmentDefinition",
		"metadata": object{"name": name, "namespace": "default"}, "spec": object{"config": text(conf)},
	})
	w.networks, w.names = append(w.networks, "default/"+name), append(w.names, name)
}

// plugin draws the plugin for the interfaces of a network. With several nodes the interfaces are
// connected only within their node: with one network for all nodes, host-local's ranges would
// necessarily cause duplicates.
func (w *world) plugin() string {
	usual := space.Pick(w.Choices, "bridge", "ptp")
	if len(w.Nodes) > 1 {
		return usual
	}
	return space.Pick(w.Plugins(), usual, "macvlan", "ipvlan", "host-device")
}

// primary draws the network of all pods on the nodes' podCIDRs.
func (w *world) primary() {
	bits := space.Pick(w.Choices, 28, 29, 24)
	for i, name := range w.Nodes {
		cidrs := []string{fmt.Sprintf("10.244.%d.0/%d", i, bits)}
		w.Add(object{
			"apiVersion": "v1", "kind": "Node", "metadata": object{"name": name},
			"spec":   object{"podCIDR": cidrs[0], "podCIDRs": cidrs},
			"status": object{"conditions": []object{{"type": "Ready", "status": "True"}}},
		})
	}
	w.names = append(w.names, "cbr0")
	w.Doc.Spec.Nodes, w.room = nil, min(w.room, 1<<(32-bits)-3)
	conf := object{"cniVersion": "1.0.0", "name": "cbr0", "plugins": []object{
		{"type": w.plugin(), "ipam": object{"type": "host-local"}}, {"type": "portmap"},
	}}
	w.Add(object{
		"apiVersion": "v1", "kind": "ConfigMap", "metadata": object{"name": "kube-router-cfg", "namespace": "kube-system"},
		"data": object{"cni-conf.json": text(conf)},
	})
}

func text(o object) string {
	b, err := json.Marshal(o)
	if err != nil {
		panic(err) // strings and lists always marshal
	}
	return string(b)
}

// attached draws the networks of a workload's pods.
func (w *world) attached() map[string]string {
	if len(w.networks) == 0 {
		return nil
	}
	return map[string]string{"k8s.v1.cni.cncf.io/networks": space.Pick(w.Choices, w.networks...)}
}

// powerLoss cuts a node's power for a short time. Data that was not written to disk is lost.
func (w *world) powerLoss(_ *space.World, at time.Duration) {
	w.At(at, scenarios.Event{Action: &action.Reboot{
		Node: w.Node(), Down: space.Millis(w.Duration(500*time.Millisecond, 20*time.Second)),
		Unsynced: space.Pick(w.Choices, "", action.Lose, action.Keep),
	}})
}

// diskFault makes a node's disk fail for some time.
func (w *world) diskFault(_ *space.World, at time.Duration) {
	w.At(at, scenarios.Event{Action: &action.DiskFault{
		Node: w.Node(), Fault: space.Pick(w.Choices, "full", "noInodes", "readOnly", "broken", "slow"), For: space.Millis(w.Duration(500*time.Millisecond, 20*time.Second)),
	}})
}

// wipe is the fix for leaked addresses that manuals recommend, at a good or a bad time.
func (w *world) wipe(_ *space.World, at time.Duration) {
	w.At(at, scenarios.Event{Action: &action.Command{Run: fmt.Sprintf("ssh %s rm -rf /var/lib/cni/networks/%s", w.Node(), space.Pick(w.Choices, w.names...))}})
}

// restartRuntime kills the container runtime of a node.
func (w *world) restartRuntime(_ *space.World, at time.Duration) {
	w.At(at, scenarios.Event{Action: &action.RestartRuntime{Node: w.Node()}})
}

// faults are mostly those that matter: plugins that are killed, and file accesses that fail.
func (w *world) faults() {
	if !w.memory && w.Chance(1, 3) {
		w.Faults()
		return
	}
	f := &w.Doc.Spec.Faults
	if f.Max = space.Pick(w.Choices, 0, 1, 2, 4); f.Max == 0 {
		return
	}
	f.Only = []string{space.Pick(w.Choices, "files/", "cni-")}
	f.Allowed = []string{sim.Crash.String()}
	f.Rates = map[string]float64{sim.Crash.String(): space.Pick(w.Choices, .02, .1)}
	if !w.memory {
		f.Allowed = append(f.Allowed, sim.FailBefore.String())
		f.Rates[sim.FailBefore.String()] = space.Pick(w.Choices, .02, .1)
	}
}
