// Package calico draws worlds of Calico.
package calico

import (
	"time"

	"ipamsim/fuzz/space"
)

// world is a world of Calico while it is drawn.
type world struct {
	*space.World
	routed    bool     // each rack is a subnet; see fabric
	tunnels   bool     // every pool has tunnels; see fabric
	addresses int      // the nodes' own that are taken; see manifest
	machine   []object // the manifests of the nodes
	pools     []ipPool
	six       bool          // pods also get an IPv6 address
	racks6    bool          // the nodes' IPv6 addresses are those of their racks, too
	past      bool          // pods may get addresses past IPAM; see plugin
	reserved  bool          // there is an IPReservation from the start
	grace     time.Duration // how long the collector is to wait with a leak; 0: for ever
	settings  object        // the IPAM configuration, nil if there is none
	collector object        // what the controllers' configuration says of the one that collects
	namespace object        // the metadata of the pods' namespace
	config    object        // the ConfigMap of the CNI plugin, nil if there is none
	rare      bool          // there is a pool of rarePools
	keptRare  bool          // there is a rareReservation
	unsaid    bool          // the controllers' configuration does not mention the one that collects
	collected time.Duration // how long the collector may take for what has leaked; 0: nobody collects
}

// Space is Calico's.
var Space = space.Space{Name: "calico", Draw: func(w *space.World) {
	w.Doc.Spec.IPAM = "calico"
	Draw(w, func(map[string]string) {})
}}

// Draw draws a world of Calico: two to four nodes and pools of which a handful
// of pods is a crowd. Half of the worlds are calm: whatever happens there is the
// work of operators and of pods that come and go, and every message arrives. More adds
// to the annotations of a workload's pods.
func Draw(w *space.World, more func(annotations map[string]string)) {
	c := &world{World: w}
	c.draw(func() (map[string]string, object) {
		annotations, spec := c.template()
		more(annotations)
		return annotations, spec
	})
}

// object is a manifest or a part of one.
type object = map[string]any

// draw draws the whole of it; template makes what stands in a workload's pods.
func (c *world) draw(template func() (map[string]string, object)) {
	w := c.World
	w.Doc.Spec.Datastore = space.Pick(w.Choices, "kubernetes", "kubernetes", "etcdv3")
	hurt := w.Chance(1, 2)
	w.Pace(5*time.Second, time.Minute)
	w.Doc.Spec.Limits.Steps = 2500
	w.Doc.Spec.Timers.SandboxRetry = space.Millis(w.Duration(4*time.Second, 12*time.Second))
	c.fabric()
	c.machines()
	c.plugin()
	c.drawPools()
	c.affinity()
	c.reservation()
	c.collectors()
	c.earlier()
	c.namespaces()
	c.daemons()
	pods := w.Between(1, 7)
	if w.Chance(1, 10) {
		pods = w.Between(8, 14)
	}
	w.Workloads(pods, template)
	w.Churn()
	c.operators(hurt)
	if hurt {
		w.Faults()
		w.Hazards()
	}
	w.Latencies()
	c.judge()
	w.Strategy(space.Weight{Name: "random", N: 50}, space.Weight{Name: "timed", N: 25}, space.Weight{Name: "stall", N: 15}, space.Weight{Name: "pos", N: 5}, space.Weight{Name: "pct", N: 5})
	w.Uncommon(c.rarities())
	w.Title()
}

// judge draws what is judged. Routes have as long as a process that stands still
// may keep its node off the network. What holds when all is calm is judged where
// somebody collects, after what leaked has had its time; elsewhere the script ends
// with as quiet a time.
func (c *world) judge() {
	c.Doc.Spec.Judge.BlackholeAfter = space.Millis(standstill)
	rest := standstill + 10*time.Second
	switch {
	case c.collected > 0:
		c.Doc.Spec.Judge.LeakAfter = space.Millis(c.collected)
		c.Doc.Spec.Settle = space.Millis(max(rest, c.collected+c.collected/2))
	default:
		c.Doc.Spec.Until = space.Millis(c.Until + rest)
	}
}

// standstill is twice the longest time for which a strategy holds a process.
const standstill = time.Minute
