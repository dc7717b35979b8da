package space

import (
	"slices"
	"time"

	"ipamsim/scenarios"
	"ipamsim/sim/cluster"
)

// kubeControllers draws the KubeControllersConfiguration, or none.
func (c *calicoWorld) kubeControllers() {
	if c.Chance(1, 10) {
		return
	}
	node := object{}
	c.collector = node
	controllers := object{"node": node}
	switch c.Int(12) {
	case 0: // fifteen minutes
	case 1:
		node["leakGracePeriod"] = "0s" // never
	case 2:
		delete(controllers, "node") // which should change nothing; see collectors
		c.unsaid = true
	default:
		c.grace = ms(c.Duration(5*time.Second, 25*time.Second)).Duration
		node["leakGracePeriod"] = c.grace.String()
	}
	if c.Chance(1, 3) {
		node["syncLabels"] = "Enabled"
		if c.doc.Spec.Datastore == "etcdv3" && c.Chance(1, 2) { // upstream refuses it elsewhere
			node["syncLabels"] = "Disabled"
		}
	}
	if c.Chance(1, 6) {
		node["hostEndpoint"] = object{"autoCreate": Pick(c.Choices, "Enabled", "Disabled")}
	}
	c.add(object{
		"apiVersion": "projectcalico.org/v3", "kind": "KubeControllersConfiguration", "metadata": object{"name": "default"},
		"spec": object{"controllers": controllers},
	})
}

// passes draws a schedule of single passes of the collector.
func (c *calicoWorld) passes(every time.Duration) scenarios.Reconciler {
	return scenarios.Reconciler{
		Name: "ipam-gc", Schedule: "@every " + every.String(), Count: Pick(c.Choices, 1, 1, 2),
		Overlap: Pick(c.Choices, cluster.Forbid, cluster.Allow, cluster.Replace),
	}
}

// tunnelled reports whether calico-node gives the nodes addresses for tunnels.
func (c *calicoWorld) tunnelled() bool {
	return slices.Contains(c.doc.Spec.Daemons, "tunnel-addresses")
}

// daemons draws whether calico-node looks after the nodes' own addresses. Where a
// pool has tunnels it mostly does.
func (c *calicoWorld) daemons() {
	for _, p := range c.pools {
		spec := p.manifest["spec"].(object)
		if spec["ipipMode"] != nil || spec["vxlanMode"] != nil || c.Chance(1, 5) {
			c.doc.Spec.Daemons = append(c.doc.Spec.Daemons, "tunnel-addresses")
			return
		}
	}
}
