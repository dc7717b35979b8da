package space

import "time"

// calicoWorld is a world of Calico while it is drawn.
type calicoWorld struct {
	*world
	routed    bool     // each rack is a subnet; see fabric
	tunnels   bool     // every pool has tunnels; see fabric
	addresses int      // the nodes' own that are taken; see manifest
	machine   []object // the manifests of the nodes
	pools     []calicoPool
	six       bool          // pods also get an IPv6 address
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

// calico draws a world of Calico: two to four nodes and pools of which a handful
// of pods is a crowd. Half of the worlds are calm: whatever happens there is the
// work of operators and of pods that come and go, and every message arrives.
func calico(w *world) {
	w.doc.Spec.IPAM = "calico"
	c := &calicoWorld{world: w}
	c.draw(c.template)
}

// draw draws the whole of it; template makes what stands in a workload's pods.
func (c *calicoWorld) draw(template func() (map[string]string, object)) {
	w := c.world
	w.doc.Spec.Datastore = Pick(w.Choices, "etcdv3", "etcdv3", "kubernetes")
	hurt := w.Chance(1, 2)
	w.pace(5*time.Second, time.Minute)
	w.doc.Spec.Limits.Steps = 2500
	w.doc.Spec.Timers.SandboxRetry = ms(w.Duration(4*time.Second, 12*time.Second))
	c.fabric()
	c.machines()
	c.plugin()
	c.drawPools()
	c.affinity()
	c.reservation()
	c.collectors()
	c.namespaces()
	c.daemons()
	pods := w.Between(1, 7)
	if w.Chance(1, 10) {
		pods = w.Between(8, 14)
	}
	w.workloads(pods, template)
	w.churn()
	c.operators(hurt)
	if hurt {
		w.faults()
		w.hazards()
	}
	w.latencies()
	c.judge()
	w.strategy(weight{"random", 50}, weight{"timed", 25}, weight{"stall", 15}, weight{"pos", 5}, weight{"pct", 5})
	w.uncommon(c.rarities())
	w.title()
}

// judge draws what is judged. Routes have as long as a process that stands still
// may keep its node off the network. What holds when all is calm is judged where
// somebody collects, after what leaked has had its time; elsewhere the script ends
// with as quiet a time.
func (c *calicoWorld) judge() {
	c.doc.Spec.Judge.BlackholeAfter = ms(standstill)
	rest := standstill + 10*time.Second
	switch {
	case c.collected > 0:
		c.doc.Spec.Judge.LeakAfter = ms(c.collected)
		c.doc.Spec.Settle = ms(max(rest, c.collected+c.collected/2))
	default:
		c.doc.Spec.Until = ms(c.until + rest)
	}
}

// standstill is twice the longest time for which a strategy holds a process.
const standstill = time.Minute
