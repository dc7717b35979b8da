package main

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/containernetworking/plugins/plugins/ipam/host-local/backend/allocator"
	whereabouts "github.com/k8snetworkplumbingwg/whereabouts/pkg/types"
	calico "github.com/projectcalico/api/pkg/apis/projectcalico/v3"
	metallb "go.universe.tf/metallb/api/v1beta1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	nodeipam "k8s.io/kubernetes/pkg/controller/nodeipam/config"

	"ipamsim/model/invariant"
)

// field is a field of an address manager's API, and the invariants that judge it. Unjudged is
// why none does; a field that restricts nobody needs no more than that.
type field struct {
	name     string
	judged   []string
	unjudged string
}

func judged(name string, by ...string) field     { return field{name: name, judged: by} }
func unjudged(name string, because string) field { return field{name: name, unjudged: because} }

const (
	restricts  = "does not say who receives which address"
	deprecated = "set by no user"
	datapath   = "of the data path, which is not simulated"
)

// apis are the types by which users say who may receive which address, with all their fields.
var apis = []struct {
	value  any
	fields []field
}{
	{calico.IPPoolSpec{}, []field{
		judged("CIDR", "out-of-pool"), judged("Disabled", "out-of-pool"), judged("NodeSelector", "out-of-pool", "starved-node"),
		judged("AllowedUses", "out-of-pool"), judged("AssignmentMode", "out-of-pool"), judged("BlockSize", "overlapping-blocks"),
		judged("DisableBGPExport", "blackholed-address"), judged("IPIPMode", "blackholed-address"), judged("VXLANMode", "blackholed-address"),
		unjudged("NamespaceSelector", "which namespaces a pool selects is not part of the record"),
		unjudged("NATOutgoing", datapath), unjudged("NATOutgoingV1", deprecated), unjudged("IPIP", deprecated),
	}},
	{calico.IPReservationSpec{}, []field{judged("ReservedCIDRs", "excluded-address")}},
	{calico.IPAMConfigurationSpec{}, []field{judged("StrictAffinity", "strict-affinity"), judged("MaxBlocksPerHost", "max-blocks")}},
	{metallb.IPAddressPoolSpec{}, []field{
		judged("Addresses", "disallowed-load-balancer-ip"), judged("AutoAssign", "disallowed-load-balancer-ip"),
		judged("AvoidBuggyIPs", "disallowed-load-balancer-ip"), judged("AllocateTo", "disallowed-load-balancer-ip"),
	}},
	{metallb.ServiceAllocation{}, []field{
		judged("Namespaces", "disallowed-load-balancer-ip"), judged("NamespaceSelectors", "disallowed-load-balancer-ip"),
		judged("ServiceSelectors", "disallowed-load-balancer-ip"),
		unjudged("Priority", "a Service keeps its address when a pool of a higher priority has one again, so that the record does not show which was the first choice"),
	}},
	{whereabouts.IPAMConfig{}, []field{
		judged("Range", "out-of-pool"), judged("RangeStart", "out-of-pool"), judged("RangeEnd", "out-of-pool"), judged("IPRanges", "out-of-pool"),
		judged("OmitRanges", "excluded-address"), judged("NodeSliceSize", "slice-conflict", "unassigned-node"),
		judged("OverlappingRanges", "overlap-reservation", "double-claim"), judged("NetworkName", "duplicate-address"),
		unjudged("Addresses", "addresses of the user's own, which no allocator gives"), unjudged("Gateway", restricts), unjudged("GatewayStr", restricts),
		unjudged("Name", restricts), unjudged("Type", restricts), unjudged("Routes", datapath), unjudged("DNS", datapath),
		unjudged("LeaderLeaseDuration", restricts), unjudged("LeaderRenewDeadline", restricts), unjudged("LeaderRetryPeriod", restricts),
		unjudged("LogFile", restricts), unjudged("LogLevel", restricts), unjudged("ReconcilerCronExpression", restricts), unjudged("SleepForRace", restricts),
		unjudged("Kubernetes", restricts), unjudged("ConfigurationPath", restricts), unjudged("PodName", restricts), unjudged("PodNamespace", restricts),
	}},
	{whereabouts.RangeConfiguration{}, []field{
		judged("Range", "out-of-pool"), judged("RangeStart", "out-of-pool"), judged("RangeEnd", "out-of-pool"), judged("OmitRanges", "excluded-address"),
	}},
	{allocator.IPAMConfig{}, []field{
		judged("Range", "out-of-pool"), judged("Ranges", "out-of-pool"), judged("DataDir", "duplicate-address"),
		unjudged("IPArgs", "a runtime's request for an address: Multus passes none on"),
		unjudged("Name", restricts), unjudged("Type", restricts), unjudged("Routes", datapath), unjudged("ResolvConf", datapath),
	}},
	{allocator.Range{}, []field{
		judged("Subnet", "out-of-pool"), judged("RangeStart", "out-of-pool"), judged("RangeEnd", "out-of-pool"),
		judged("Gateway", "excluded-address"),
	}},
	{nodeipam.NodeIPAMControllerConfiguration{}, []field{
		judged("ServiceCIDR", "duplicate-address"), judged("SecondaryServiceCIDR", "duplicate-address"),
		judged("NodeCIDRMaskSize", "unassigned-node", "slice-conflict"), judged("NodeCIDRMaskSizeIPv4", "unassigned-node", "slice-conflict"),
		judged("NodeCIDRMaskSizeIPv6", "unassigned-node", "slice-conflict"),
	}},
	{networkingv1.ServiceCIDRSpec{}, []field{judged("CIDRs", "out-of-pool", "refused-service")}},
	{corev1.ServiceSpec{}, []field{
		judged("Ports", "service-node-ports", "duplicate-node-port"), judged("ClusterIP", "duplicate-cluster-ip", "refused-service"),
		judged("ClusterIPs", "duplicate-cluster-ip", "refused-service"), judged("Type", "service-node-ports", "unserved-load-balancer"),
		judged("HealthCheckNodePort", "service-node-ports"), judged("AllocateLoadBalancerNodePorts", "service-node-ports"),
		judged("ExternalTrafficPolicy", "service-node-ports", "duplicate-load-balancer-ip"),
		judged("IPFamilies", "service-families", "surplus-load-balancer-ip"), judged("IPFamilyPolicy", "service-families"),
		judged("LoadBalancerIP", "disallowed-load-balancer-ip"), judged("LoadBalancerClass", "disallowed-load-balancer-ip"),
		judged("ExternalIPs", "duplicate-address"), judged("Selector", "duplicate-load-balancer-ip"),
		unjudged("SessionAffinity", datapath), unjudged("SessionAffinityConfig", datapath), unjudged("LoadBalancerSourceRanges", datapath),
		unjudged("ExternalName", restricts), unjudged("PublishNotReadyAddresses", datapath), unjudged("InternalTrafficPolicy", datapath),
		unjudged("TrafficDistribution", datapath),
	}},
}

// Every field by which a user may say who receives which address is judged by an invariant, or
// listed with the reason why none does. A release with a new field fails here.
func TestEveryFieldIsJudged(t *testing.T) {
	for _, api := range apis {
		typ := reflect.TypeOf(api.value)
		has := map[string]bool{}
		for _, f := range reflect.VisibleFields(typ) {
			if len(f.Index) == 1 && f.IsExported() {
				has[f.Name] = true
			}
		}
		for _, f := range api.fields {
			switch {
			case !has[f.name]:
				t.Errorf("%s has no field %s, or it is listed twice", typ, f.name)
			case len(f.judged) == 0 && f.unjudged == "":
				t.Errorf("%s.%s: neither judged nor a reason", typ, f.name)
			}
			delete(has, f.name)
			for _, name := range f.judged {
				if _, ok := invariant.Named(name); !ok {
					t.Errorf("%s.%s: no invariant %q", typ, f.name, name)
				}
			}
		}
		var missing []string
		for name := range has {
			missing = append(missing, name)
		}
		if slices.Sort(missing); len(missing) > 0 {
			t.Errorf("%s: not listed: %s", typ, strings.Join(missing, ", "))
		}
	}
}
