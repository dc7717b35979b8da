package space_test

import (
	"slices"
	"strings"
)

// annotationBounds are boundary values of annotations.
//
// Source: cni-plugin/pkg/k8s/k8s.go (v3.31); the specification of the networks
// annotation, Network Plumbing Working Group, 4.1.
var annotationBounds = map[string][]bound{
	"Pod.k8s.v1.cni.cncf.io/networks": {
		texts("short", func(s string) bool { return !strings.HasPrefix(s, "[") }), texts("several", listed),
		texts("short, with an interface", func(s string) bool { return strings.Contains(s, "@") }),
		texts("long", func(s string) bool { return strings.HasPrefix(s, "[") }),
	},
	"Pod.cni.projectcalico.org/ipAddrs": {texts("IPv4", four), texts("IPv6", six), texts("both", func(s string) bool { return listed(s) && six(s) })},
	"Pod.cni.projectcalico.org/ipv4pools": {
		texts("by name", func(s string) bool { return strings.Contains(s, "pool-") }), texts("by prefix", func(s string) bool { return strings.Contains(s, "/") }),
		texts("several", listed),
	},
	"Pod.cni.projectcalico.org/ipFamilies":       families,
	"Namespace.cni.projectcalico.org/ipFamilies": families[1:],
	"Namespace.cni.projectcalico.org/ipv4pools":  {texts("by name", func(s string) bool { return strings.Contains(s, "pool-") }), texts("several", listed)},
}

var families = exactly(`["IPv4"]`, `["IPv6"]`, `["IPv4","IPv6"]`)

// Reasons that several annotations share.
const (
	ofBandwidth = "it is of bandwidth and connections"
	ofRoutes    = "the fabric says it of every node here"
	ofWireGuard = "no simulated Felix speaks WireGuard"
	ofResources = "upstream's client writes it into its own resources, of which this is none"
	ofMultus    = "Multus gives it to plugins that ask for it, and Whereabouts does not"
)

var annotationExclusions = slices.Concat(
	each(ofDataplane, "", "Pod", "cni.projectcalico.org/hwAddr", "cni.projectcalico.org/allowedSourcePrefixes"),
	each("a floating address is one of the endpoint's, of which IPAM does not know", "", "Pod", "cni.projectcalico.org/floatingIPs"),
	each(byUpstream, "", "Pod", "cni.projectcalico.org/podIP", "cni.projectcalico.org/podIPs", "cni.projectcalico.org/containerID", multusStatus),
	each("it is a label of namespaces in upstream's datastore", "", "Pod", "projectcalico.org/name"),
	each(ofBandwidth, "", "Pod", "qos.projectcalico.org/dscp",
		"qos.projectcalico.org/ingressBandwidth", "qos.projectcalico.org/egressBandwidth", "qos.projectcalico.org/ingressBurst", "qos.projectcalico.org/egressBurst",
		"qos.projectcalico.org/ingressPeakrate", "qos.projectcalico.org/egressPeakrate", "qos.projectcalico.org/ingressMinburst", "qos.projectcalico.org/egressMinburst",
		"qos.projectcalico.org/ingressPacketRate", "qos.projectcalico.org/egressPacketRate", "qos.projectcalico.org/ingressPacketBurst", "qos.projectcalico.org/egressPacketBurst",
		"qos.projectcalico.org/ingressMaxConnections", "qos.projectcalico.org/egressMaxConnections"),

	each(byUpstream, "", "Node",
		"projectcalico.org/IPv4IPIPTunnelAddr", "projectcalico.org/IPv4VXLANTunnelAddr", "projectcalico.org/IPv6VXLANTunnelAddr",
		"projectcalico.org/VXLANTunnelMACAddr", "projectcalico.org/VXLANTunnelMACAddrV6", "projectcalico.org/Interfaces", "projectcalico.org/kube-labels"),
	each(ofWireGuard, "", "Node",
		"projectcalico.org/IPv4WireguardInterfaceAddr", "projectcalico.org/IPv6WireguardInterfaceAddr",
		"projectcalico.org/WireguardPublicKey", "projectcalico.org/WireguardPublicKeyV6"),
	each(ofRoutes, "", "Node", "projectcalico.org/ASNumber", "projectcalico.org/RouteReflectorClusterID"),
	each(ofResources, "", "Node", "projectcalico.org/labels", "projectcalico.org/annotations", "projectcalico.org/metadata", "projectcalico.org/created-by"),

	each(ofMultus, "", "v1.NetworkSelectionElement", "ips", "mac", "infiniband-guid", "portMappings", "bandwidth", "cni-args", "ipam-claim-reference"),
	each("Multus writes a route for it, and leaves addresses alone", "", "v1.NetworkSelectionElement", "default-route"),
	each("Multus refuses one without it", absent, "v1.NetworkSelectionElement", "name"),
)

const multusStatus = "k8s.v1.cni.cncf.io/network-status"
