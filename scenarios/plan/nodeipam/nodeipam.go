// Package nodeipam is what plans know of Kubernetes' node IPAM: its settings, and how
// kubeadm's configuration says them.
package nodeipam

import (
	"fmt"
	"net/netip"
	"slices"
	"strconv"

	"sigs.k8s.io/yaml"

	"ipamsim/model/capacity"
	"ipamsim/model/capacity/nodeipam"
	"ipamsim/scenarios"
	"ipamsim/scenarios/plan"
	"ipamsim/scenarios/plan/values"
	"ipamsim/sim/cluster"
	"ipamsim/sim/ipam/kubeadm"
)

// Plan is what plans know of node IPAM. It has no reconciler: what a node had is free when
// its Node object goes.
var Plan = plan.Manager{
	Configure: func(_ *plan.Draft, _ *scenarios.Scenario, c *capacity.Cluster) error {
		c.Manager = nodeipam.Config{}
		return nil
	},
	Settings: []plan.Setting{
		{Name: "podSubnet", Means: "the range that is cut into nodes' podCIDRs", Type: values.CIDR()},
		{Name: "nodeMask", Means: "prefix length of a node's podCIDR", Type: values.Whole(8, 126)},
	},
	Manifests: manifests,
	Blame:     []string{"nodeMask", "podSubnet"},
}

// maskFlag is the flag for the length of a podCIDR.
const maskFlag = "node-cidr-mask-size"

// manifests change the ClusterConfiguration, or make one.
func manifests(d *plan.Draft, all []cluster.Object) ([]cluster.Object, error) {
	i := slices.IndexFunc(all, func(o cluster.Object) bool { return o.Kind == kubeadm.Kind && o.Name == kubeadm.Name })
	if i < 0 {
		o, err := plan.Manifest("v1", kubeadm.Kind, kubeadm.Namespace, kubeadm.Name, nil)
		if err != nil {
			return nil, err
		}
		i, all = 0, append([]cluster.Object{o}, all...)
	}
	rest, err := plan.Change(all[i:i+1], kubeadm.Kind, func(b plan.Body) error {
		delete(b, "spec")
		data := plan.Under(b, "data")
		text, _ := data[kubeadm.Field].(string)
		var err error
		data[kubeadm.Field], err = configure(d, text)
		return err
	})
	if err != nil {
		return nil, err
	}
	all[i] = rest[0]
	return all, nil
}

// configure is kubeadm's configuration with what the settings say.
func configure(d *plan.Draft, text string) (string, error) {
	conf := plan.Body{}
	if err := yaml.Unmarshal([]byte(text), &conf); err != nil {
		return "", fmt.Errorf("no ClusterConfiguration of kubeadm: %w", err)
	}
	if p, ok := plan.Value[netip.Prefix](d, "podSubnet"); ok {
		plan.Under(conf, "networking")["podSubnet"] = p.String()
	}
	if bits, ok := plan.Value[int](d, "nodeMask"); ok {
		m := plan.Under(conf, "controllerManager")
		m["extraArgs"] = with(m["extraArgs"], maskFlag, strconv.Itoa(bits))
	}
	out, err := yaml.Marshal(conf)
	return string(out), err
}

// with are the arguments with another value of one: a list as of v1beta4, or a mapping.
func with(args any, name, value string) any {
	if m, ok := args.(plan.Body); ok {
		m[name] = value
		return m
	}
	list, _ := args.([]any)
	list = slices.DeleteFunc(slices.Clone(list), func(a any) bool {
		m, ok := a.(plan.Body)
		return ok && m["name"] == name
	})
	return append(list, plan.Body{"name": name, "value": value})
}
