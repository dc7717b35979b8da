package calico

import (
	"slices"
	"time"

	"ipamsim/fuzz/space"
	"ipamsim/scenarios"
	"ipamsim/sim/cluster/cron"
)

// kubeControllers draws the KubeControllersConfiguration, or none.
func (c *world) kubeControllers() {
	if c.Chance(1, 10) {
		return
	}
	node := object{}
	c.collector = node
	controllers := object{"node": node}
	switch c.Int(12) {
	case 0: // the default, fifteen minutes
	case 1:
		node["leakGracePeriod"] = "0s" // never
	case 2:
		delete(controllers, "node") // which should have no effect; see collectors
		c.unsaid = true
	default:
		c.grace = space.Millis(c.Duration(5*time.Second, 25*time.Second)).Duration
		node["leakGracePeriod"] = c.grace.String()
	}
	if c.Chance(1, 3) {
		node["syncLabels"] = "Enabled"
		if c.Doc.Spec.Datastore == "etcdv3" && c.Chance(1, 2) { // upstream refuses it with other datastores
			node["syncLabels"] = "Disabled"
		}
	}
	if c.Chance(1, 6) {
		node["hostEndpoint"] = object{"autoCreate": space.Pick(c.Choices, "Enabled", "Disabled")}
	}
	c.Add(object{
		"apiVersion": "projectcalico.org/v3", "kind": "KubeControllersConfiguration", "metadata": object{"name": "default"},
		"spec": object{"controllers": controllers},
	})
}

// passes draws a schedule of single passes of the collector.
func (c *world) passes(every time.Duration) scenarios.Reconciler {
	return scenarios.Reconciler{
		Name: "ipam-gc", Schedule: "@every " + every.String(), Count: space.Pick(c.Choices, 1, 1, 2),
		Overlap: space.Pick(c.Choices, cron.Forbid, cron.Allow, cron.Replace),
	}
}

// tunnelled reports whether calico-node assigns tunnel addresses to the nodes.
func (c *world) tunnelled() bool {
	return slices.Contains(c.Doc.Spec.Daemons, "tunnel-addresses")
}

// daemons draws whether calico-node maintains the nodes' own addresses. It mostly does if a pool
// has tunnels.
func (c *world) daemons() {
	for _, p := range c.pools {
		spec := p.manifest["spec"].(object)
		if spec["ipipMode"] != nil || spec["vxlanMode"] != nil || c.Chance(1, 5) {
			c.Doc.Spec.Daemons = append(c.Doc.Spec.Daemons, "tunnel-addresses")
			return
		}
	}
}
