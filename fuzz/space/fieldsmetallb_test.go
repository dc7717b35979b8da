package space_test

import (
	"slices"
	"strings"
)

// metallbBounds are boundary values of MetalLB's pools.
//
// Source: internal/config, ParseCIDR and addressPoolServiceAllocationsFromCR (v0.16.2).
var metallbBounds = map[string][]bound{
	"v1beta1.IPAddressPoolSpec.addresses": {
		texts("IPv4", four), texts("IPv6", six), texts("from-to", func(s string) bool { return strings.Contains(s, "-") }),
	},
	"v1beta1.IPAddressPoolSpec.autoAssign":    exactly("true", "false"),
	"v1beta1.IPAddressPoolSpec.avoidBuggyIPs": exactly("true"),
	"v1beta1.ServiceAllocation.namespaces":    exactly("default", "other"),
	"v1beta1.ServiceAllocation.priority":      exactly(1, 3),
}

var metallbExclusions = slices.Concat(
	each("upstream refuses a pool without them", absent, "v1beta1.IPAddressPoolSpec", "addresses"),
	each("upstream takes what any of them selects", several, "v1beta1.ServiceAllocation", "namespaceSelectors", "serviceSelectors"),
	each("how labels are matched is Kubernetes' affair", "", "v1.LabelSelector", "matchExpressions"),
	each("how labels are matched is Kubernetes' affair", absent, "v1.LabelSelector", "matchLabels"),
	each("how labels are matched is Kubernetes' affair", several, "v1.LabelSelector", "matchLabels"),
)
