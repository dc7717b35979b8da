// Package calico generates worlds for Calico.
package calico

import (
	"time"

	"ipamsim/fuzz/space"
)

// world is a world of Calico during its generation.
type world struct {
	*space.World
	routed    bool     // each rack is a subnet; see fabric
	tunnels   bool     // every pool has tunnels; see fabric
	addresses int      // number of node addresses in use; see manifest
	machine   []object // the manifests of the nodes
	pools     []ipPool
	six       bool          // pods also get an IPv6 address
	racks6    bool          // the nodes' IPv6 addresses are those of their racks, too
	past      bool          // pods may get addresses without IPAM; see plugin
	reserved  bool          // an IPReservation exists from the start
	grace     time.Duration // the collector's grace period; 0: forever
	settings  object        // the IPAM configuration, nil if there is none
	collector object        // the collector's part of the controllers' configuration
	namespace object        // the metadata of the pods' namespace
	config    object        // the ConfigMap of the CNI plugin, nil if there is none
	rare      bool          // there is a pool of rarePools
	keptRare  bool          // there is a rareReservation
	unsaid    bool          // the controllers' configuration does not mention the collector
	collected time.Duration // time in which a leak must be released; 0: there is no collector
}

// Space is the space of Calico.
var Space = space.Space{Name: "calico", Draw: func(w *space.World) {
	w.Doc.Spec.IPAM = "calico"
	Draw(w, func(map[string]string) {})
}}

// Draw draws a world of Calico: two to four nodes, and pools that a few pods fill. Half of the
// worlds are calm: every message arrives, and only operators and pods change the cluster. more adds
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

// draw draws all parts; template returns the annotations and the spec of a workload's pods.
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

// judge draws the time limits of invariants. The limit for routes is the time for which a stopped
// process may keep its node off the network. If there is a collector, quiescent invariants are
// checked after leaks had time to be released; otherwise the script ends with a quiet time of the
// same length.
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
