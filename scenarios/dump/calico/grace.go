package calico

import (
	"time"

	"ipamsim/scenarios/dump"
)

// usualGrace is the default time that kube-controllers waits before it releases a leaked address.
//
// Source: kube-controllers/pkg/config, NodeControllerConfig defaults (v3.31).
const usualGrace = 15 * time.Minute

// LeakGrace is how long they do in a cluster, by its KubeControllersConfiguration.
func LeakGrace(c *dump.Cluster) time.Duration {
	if o, ok := dump.KeptOf[*objects](c); ok && o.controllers["default"] != nil {
		if g, err := time.ParseDuration(o.controllers["default"].Value); err == nil {
			return g
		}
	}
	return usualGrace
}
