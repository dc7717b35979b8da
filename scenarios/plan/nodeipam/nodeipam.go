// Package nodeipam is what plans know of Kubernetes' node IPAM: its settings, and how
// kubeadm's configuration says them.
package nodeipam

import (
	"net/netip"
	"strconv"

	"ipamsim/model/capacity"
	"ipamsim/model/capacity/nodeipam"
	"ipamsim/scenarios"
	"ipamsim/scenarios/plan"
	"ipamsim/scenarios/plan/kubeadm"
	"ipamsim/scenarios/plan/values"
	"ipamsim/sim/cluster"
)

// Plan is what plans know of node IPAM. It has no reconciler: what a node had is free when
// its Node object goes.
var Plan = plan.Manager{
	Configure: func(_ *plan.Draft, _ *scenarios.Scenario, c *capacity.Cluster) error {
		c.Manager = nodeipam.Config{}
		return nil
	},
	Settings: []plan.Setting{
		{Name: "podSubnet", Means: "the range of the nodes' podCIDRs", Type: values.CIDR()},
		{Name: "nodeMask", Means: "prefix length of a node's podCIDR", Type: values.Whole(8, 126)},
	},
	Manifests: manifests,
	Blame:     []string{"nodeMask", "podSubnet"},
}

// maskFlag is the flag for the length of a podCIDR.
const maskFlag = "node-cidr-mask-size"

// manifests change the ClusterConfiguration.
func manifests(d *plan.Draft, all []cluster.Object) ([]cluster.Object, error) {
	return kubeadm.Change(all, func(conf plan.Body) {
		if p, ok := plan.Value[netip.Prefix](d, "podSubnet"); ok {
			plan.Under(conf, "networking")["podSubnet"] = p.String()
		}
		if bits, ok := plan.Value[int](d, "nodeMask"); ok {
			m := plan.Under(conf, "controllerManager")
			m["extraArgs"] = kubeadm.With(m["extraArgs"], maskFlag, strconv.Itoa(bits))
		}
	})
}
