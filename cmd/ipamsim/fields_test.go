package main

import (
	"testing"

	"github.com/containernetworking/plugins/plugins/ipam/host-local/backend/allocator"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	nodeipam "k8s.io/kubernetes/pkg/controller/nodeipam/config"

	"ipamsim/sim/ipam/fieldtest"
)

func TestEveryFieldIsJudged(t *testing.T) {
	fieldtest.Check(t,
		fieldtest.API{Value: allocator.IPAMConfig{}, Fields: []fieldtest.Field{
			fieldtest.Judged("Range", "out-of-pool"), fieldtest.Judged("Ranges", "out-of-pool"), fieldtest.Judged("DataDir", "duplicate-address"),
			fieldtest.Unjudged("IPArgs", "a runtime's request for an address: Multus passes none on"),
			fieldtest.Unjudged("Name", fieldtest.Restricts), fieldtest.Unjudged("Type", fieldtest.Restricts), fieldtest.Unjudged("Routes", fieldtest.Datapath), fieldtest.Unjudged("ResolvConf", fieldtest.Datapath),
		}},
		fieldtest.API{Value: allocator.Range{}, Fields: []fieldtest.Field{
			fieldtest.Judged("Subnet", "out-of-pool"), fieldtest.Judged("RangeStart", "out-of-pool"), fieldtest.Judged("RangeEnd", "out-of-pool"),
			fieldtest.Judged("Gateway", "excluded-address"),
		}},
		fieldtest.API{Value: nodeipam.NodeIPAMControllerConfiguration{}, Fields: []fieldtest.Field{
			fieldtest.Judged("ServiceCIDR", "duplicate-address"), fieldtest.Judged("SecondaryServiceCIDR", "duplicate-address"),
			fieldtest.Judged("NodeCIDRMaskSize", "unassigned-node", "slice-conflict"), fieldtest.Judged("NodeCIDRMaskSizeIPv4", "unassigned-node", "slice-conflict"),
			fieldtest.Judged("NodeCIDRMaskSizeIPv6", "unassigned-node", "slice-conflict"),
		}},
		fieldtest.API{Value: networkingv1.ServiceCIDRSpec{}, Fields: []fieldtest.Field{fieldtest.Judged("CIDRs", "out-of-pool", "refused-service")}},
		fieldtest.API{Value: corev1.ServiceSpec{}, Fields: []fieldtest.Field{
			fieldtest.Judged("Ports", "service-node-ports", "duplicate-node-port"), fieldtest.Judged("ClusterIP", "duplicate-cluster-ip", "refused-service"),
			fieldtest.Judged("ClusterIPs", "duplicate-cluster-ip", "refused-service"), fieldtest.Judged("Type", "service-node-ports", "unserved-load-balancer"),
			fieldtest.Judged("HealthCheckNodePort", "service-node-ports"), fieldtest.Judged("AllocateLoadBalancerNodePorts", "service-node-ports"),
			fieldtest.Judged("ExternalTrafficPolicy", "service-node-ports", "duplicate-load-balancer-ip"),
			fieldtest.Judged("IPFamilies", "service-families", "surplus-load-balancer-ip"), fieldtest.Judged("IPFamilyPolicy", "service-families"),
			fieldtest.Judged("LoadBalancerIP", "disallowed-load-balancer-ip"), fieldtest.Judged("LoadBalancerClass", "disallowed-load-balancer-ip"),
			fieldtest.Judged("ExternalIPs", "duplicate-address"), fieldtest.Judged("Selector", "duplicate-load-balancer-ip"),
			fieldtest.Unjudged("SessionAffinity", fieldtest.Datapath), fieldtest.Unjudged("SessionAffinityConfig", fieldtest.Datapath), fieldtest.Unjudged("LoadBalancerSourceRanges", fieldtest.Datapath),
			fieldtest.Unjudged("ExternalName", fieldtest.Restricts), fieldtest.Unjudged("PublishNotReadyAddresses", fieldtest.Datapath), fieldtest.Unjudged("InternalTrafficPolicy", fieldtest.Datapath),
			fieldtest.Unjudged("TrafficDistribution", fieldtest.Datapath),
		}},
	)
}
