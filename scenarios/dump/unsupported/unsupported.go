// Package unsupported names address managers whose objects a dump has and that are not read: what
// they assign cannot be judged. It also refuses documents that are for another command.
package unsupported

import (
	"maps"
	"slices"
	"strings"

	"ipamsim/model/invariant"
	"ipamsim/scenarios"
)

// manager is one whose objects are known by their API groups.
type manager struct {
	title  string
	groups []string
	// kinds of these groups that say something of addresses; none: all.
	kinds    []string
	balances bool // it assigns addresses of Services of type LoadBalancer, and no pod's
}

// managers by title. Objects of a group that have nothing to do with addresses are no sign.
//
// Source: the CustomResourceDefinitions of each project.
var managers = []manager{
	{title: "Antrea", groups: []string{"crd.antrea.io"}, kinds: []string{"AntreaAgentInfo", "ExternalIPPool", "IPPool"}},
	{title: "AWS VPC CNI", groups: []string{"crd.k8s.amazonaws.com", "vpcresources.k8s.aws"}, kinds: []string{"CNINode", "ENIConfig"}},
	{title: "Azure CNI", groups: []string{"acn.azure.com"}},
	{title: "Cilium", groups: []string{"cilium.io"}, kinds: []string{"CiliumEndpoint", "CiliumNode", "CiliumPodIPPool"}},
	{title: "Cilium's load balancer", groups: []string{"cilium.io"}, kinds: []string{"CiliumLoadBalancerIPPool"}, balances: true},
	{title: "GKE", groups: []string{"networking.gke.io"}, kinds: []string{"GKENetworkParamSet", "Network", "NetworkInterface", "NodeTopology"}},
	{title: "kube-ovn", groups: []string{"kubeovn.io"}},
	{title: "MetalLB", groups: []string{"metallb.io", "metallb.universe.tf"}, kinds: []string{"AddressPool"}, balances: true}, // of 0.13, deprecated there
	{title: "OVN-Kubernetes", groups: []string{"k8s.ovn.org"}},
	{title: "Spiderpool", groups: []string{"spiderpool.spidernet.io"}},
}

// Managers returns the unsupported managers with objects in a dump, by the numbers of objects that
// were not read: kinds with their API groups.
func Managers(ignored map[string]int) (out []scenarios.Unjudged) {
	for _, m := range managers {
		var seen []string
		for _, key := range slices.Sorted(maps.Keys(ignored)) {
			kind, group, _ := strings.Cut(key, ".")
			if slices.Contains(m.groups, group) && (len(m.kinds) == 0 || slices.Contains(m.kinds, kind)) {
				seen = append(seen, key)
			}
		}
		what := []string{invariant.DuplicateAddress.Name, invariant.LeakedClaim.Name, invariant.UnbackedSandbox.Name}
		if m.balances {
			what = []string{invariant.DuplicateLoadBalancerIP.Name, invariant.LeakedLoadBalancerIP.Name, invariant.UnservedLoadBalancer.Name}
		}
		if len(seen) > 0 {
			out = append(out, scenarios.Unjudged{What: what, Manager: m.title, Without: seen, Pools: []string{m.title}})
		}
	}
	return out
}
