package space_test

import (
	"slices"
	"strings"

	"ipamsim/model"
)

// whereaboutsBounds are boundary values of Whereabouts' settings.
//
// Source: whereabouts pkg/config, LoadIPAMConfig; pkg/iphelpers, GetIPRange (v0.9.4).
var whereaboutsBounds = map[string][]bound{
	"types.IPAMConfig.range":               ranges,
	"types.RangeConfiguration.range":       ranges[:3],
	"types.IPAMConfig.range_start":         starts,
	"types.RangeConfiguration.range_start": starts[1:2],
	"types.IPAMConfig.range_end":           ends,
	"types.RangeConfiguration.range_end":   ends[1:2],
	"types.IPAMConfig.exclude":             excludes,
	"types.RangeConfiguration.exclude":     excludes[:2],

	"types.IPAMConfig.node_slice_size": {
		texts("with a slash", func(s string) bool { return strings.HasPrefix(s, "/") }), texts("without", func(s string) bool { return !strings.HasPrefix(s, "/") }),
		texts("of two addresses", func(s string) bool { return s == "/30" }),
		among("the whole range", "range", func(s, r string) bool { return strings.HasSuffix(r, s) }),
	},
	"types.IPAMConfig.gateway": {
		among("in the range", "range", func(s, r string) bool { return prefix(r).Contains(addr(s)) }),
		texts("elsewhere", func(s string) bool { return s == "192.0.2.1" }),
	},
	"types.IPAMConfig.enable_overlapping_ranges": append(exactly("true", "false"), bound{absent, nil})[:2],
	"types.IPAMConfig.leader_lease_duration":     append(exactly(1000, 60000), texts("between", func(s string) bool { return s != "1000" && s != "60000" })),
	"types.IPAMConfig.leader_renew_deadline":     append(exactly(150, 40000), texts("between", func(s string) bool { return s != "150" && s != "40000" })),
	"types.IPAMConfig.leader_retry_period":       append(exactly(100, 10000), texts("between", func(s string) bool { return s != "100" && s != "10000" })),
	"types.Address.address":                      {texts("IPv4", four), texts("IPv6", six)},
}

// The last of the ranges contains all the others: 10.0.0.0/8.
var ranges = []bound{
	texts("IPv4", func(s string) bool { return isPrefix(s) && four(s) }), texts("IPv6", func(s string) bool { return isPrefix(s) && six(s) }),
	texts("from-to", func(s string) bool { return strings.Contains(s, "-") }),
	texts("written with one of its addresses", func(s string) bool { return isPrefix(s) && s != prefix(s).String() }),
	texts("of two addresses", func(s string) bool { return four(s) && prefix(s).Bits() == 30 }), texts("all of 10", func(s string) bool { return s == "10.0.0.0/8" }),
}

var starts = []bound{
	among("the network's address", "range", func(s, r string) bool { return addr(s) == prefix(r).Addr() }),
	among("the first that is given out", "range", func(s, r string) bool { return addr(s) == prefix(r).Addr().Next() }),
	among("the last that is given out", "range", func(s, r string) bool { return addr(s) == model.LastAddr(prefix(r)).Prev() }),
	among("also the end", "range_end", func(s, e string) bool { return s == e }),
	{"without an end", func(_ any, beside map[string]any) bool { return beside["range_end"] == nil }},
}

var ends = []bound{
	among("the last address", "range", func(s, r string) bool { return addr(s) == model.LastAddr(prefix(r)) }),
	among("the last that is given out", "range", func(s, r string) bool { return addr(s) == model.LastAddr(prefix(r)).Prev() }),
	among("in the middle", "range", func(s, r string) bool { return addr(s).Less(model.LastAddr(prefix(r)).Prev()) }),
	{"without a start", func(_ any, beside map[string]any) bool { return beside["range_start"] == nil }},
}

var excludes = []bound{
	texts("an address", func(s string) bool { return !isPrefix(s) }), texts("a prefix of one address", func(s string) bool { return prefix(s).IsSingleIP() }),
	texts("several addresses", func(s string) bool { return isPrefix(s) && !prefix(s).IsSingleIP() }),
	among("all of the range", "range", func(s, r string) bool { return s == prefix(r).String() }),
	among("more than the range", "range", func(s, r string) bool {
		return prefix(s).Contains(prefix(r).Addr()) && prefix(s).Bits() < prefix(r).Bits()
	}),
	texts("in no range", func(s string) bool { return s == "203.0.113.0/24" }),
}

// Reasons that several fields share.
const (
	passedOn  = "Whereabouts passes it on and does nothing by it"
	parsed    = "it is no setting: upstream's parser fills it"
	ofImports = "another release of Whereabouts leaves it so: a world begins without pods, and a cluster that has some is imported"
	ofFile    = "the file of a host is the installer's, and one configuration_path as good as another"
)

var whereaboutsExclusions = slices.Concat(
	each("Multus then looks for a file on the node, and a simulated one has none", absent, "v1.NetworkAttachmentDefinitionSpec", "config"),

	each("libcni refuses such a list", absent, "types.NetConfList", "cniVersion", "name"),
	each("no runtime here calls CHECK", "", "types.NetConfList", "disableCheck"),
	each("it is what makes it a list", absent, "types.NetConfList", "plugins"),
	each("a list is drawn with the plugin that people add, and the one plugin alone without a list", one, "types.NetConfList", "plugins"),

	each(parsed, "", "types.IPAMConfig", "Name", "Gateway", "PodName", "PodNamespace"),
	each(parsed, "", "types.Address", "Address", "Version"),
	each("another type is another address manager", absent, "types.IPAMConfig", "type"),
	each(passedOn, "", "types.IPAMConfig", "dns"),
	each(passedOn, "", "types.Route", "MTU", "AdvMSS", "Priority", "Table", "Scope"),
	each(ofLogs, "", "types.IPAMConfig", "log_file", "log_level"),
	each("upstream reads it nowhere", "", "types.IPAMConfig", "sleep_for_race"),
	each(ofAccess, "", "types.IPAMConfig", "kubernetes"),
	each(ofFile, "", "types.IPAMConfig", "configuration_path"),
	each("upstream refuses one without it", absent, "types.Address", "address"),
	each("upstream refuses one without it", absent, "types.Route", "Dst"),
	each("upstream refuses one without it", absent, "types.RangeConfiguration", "range"),

	each("the CRD requires it", absent, "v1alpha1.IPPoolSpec", "range", "allocations"),
	each("the CRD requires it", absent, "v1alpha1.IPAllocation", "id", "podref"),
	each("the CRD requires it", absent, "v1alpha1.OverlappingRangeIPReservationSpec", "podref"),
	each("a crowd is drawn: one address that is taken changes what a range with an exclude shows", one, "v1alpha1.IPPoolSpec", "allocations"),
	each(ofImports, absent, "v1alpha1.IPAllocation", "ifname"),
	each(ofImports, absent, "v1alpha1.OverlappingRangeIPReservationSpec", "ifname"),
	each(ofImports, "", "v1alpha1.OverlappingRangeIPReservationSpec", "containerid"),
	each(byUpstream, "", "v1alpha1.NodeSlicePoolSpec", "range", "sliceSize"),
	each(byUpstream, "", "v1alpha1.NodeSlicePoolStatus", "allocations"),
)
