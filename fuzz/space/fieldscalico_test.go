package space_test

import (
	"math"
	"slices"
)

// calicoBounds are boundary values of Calico's settings.
//
// Source: Calico's documentation of IPPool and IPAMConfiguration;
// libcalico-go/lib/validator/v3 (v3.31).
var calicoBounds = map[string][]bound{
	"v3.IPPoolSpec.cidr": {
		texts("IPv4", four), texts("IPv6", six),
		among("of one block", "blockSize", func(cidr, size string) bool { return cidr == prefix(cidr).Addr().String()+"/"+size }),
		among("of several blocks", "blockSize", func(cidr, size string) bool { return cidr != prefix(cidr).Addr().String()+"/"+size }),
		among("smaller than a block", "disabled", func(cidr, disabled string) bool { return disabled == "true" && prefix(cidr).Bits() == 30 }),
	},
	"v3.IPPoolSpec.blockSize":         exactly(20, 26, 30, 32, 116, 122, 126, 128), // the limits and the default of each family, and values between
	"v3.IPPoolSpec.nodeSelector":      append(exactly("all()", "has(nothing)"), texts("some nodes", func(s string) bool { return s != "all()" && s != "has(nothing)" })),
	"v3.IPPoolSpec.namespaceSelector": append(exactly("all()"), texts("some namespaces", func(s string) bool { return s != "all()" })),

	"v3.IPAMConfigSpec.maxBlocksPerHost":        exactly(0, 1, 2, 4, 20, math.MaxInt32), // 20 is upstream's default
	"v3.IPAMConfigurationSpec.maxBlocksPerHost": exactly(0, 1, 2, 4, 20, math.MaxInt32),

	"v3.IPReservationSpec.reservedCIDRs": {
		texts("an address", func(s string) bool { return !isPrefix(s) }), texts("a block", func(s string) bool { return isPrefix(s) && prefix(s).Bits() < 32 }),
		texts("a whole pool", func(s string) bool { return prefix(s).Addr() == addr("10.64.75.0") && prefix(s).Bits() < 29 }),
		texts("in no pool", func(s string) bool { return s == "198.51.100.0/24" }), texts("IPv6", six),
	},

	"v3.NodeControllerConfig.leakGracePeriod": append(exactly("0s", "1s"), texts("seconds", func(s string) bool { return s != "0s" && s != "1s" })), // a shorter one is not realistic

	"types.NetConf.ipam.assign_ipv4": exactly("true", "false"),
	"types.NetConf.ipam.assign_ipv6": exactly("true", "false"),
	"types.NetConf.ipam.ipv4_pools":  {texts("by name", func(s string) bool { return !isPrefix(s) }), texts("by prefix", isPrefix)},
}

// Reasons that several fields share.
const (
	ofLogs      = "logs of a simulated process go nowhere"
	ofDataplane = "it is of the pod's interface: the simulated host has none"
	ofAccess    = "it is how a process finds its datastore: the simulated one is reached through the gate, wherever it is"
	ofWindows   = "it is of Windows, and no machine here runs it"
	ofOthers    = "kube-controllers runs its node controller alone here, the only one that looks after pods' addresses"
	ofEndpoints = "a HostEndpoint has no address of IPAM: that the controller writes them at all is drawn"
	ofInstaller = "the installer and calico-node write it on a host; another value is another path to the same"
	byUpstream  = "upstream's own program writes it, not a user"
)

var calicoExclusions = slices.Concat(
	each("upstream's validator refuses it: it is of the first version of the API", "", "v3.IPPoolSpec", "ipip", "nat-outgoing"),
	each("upstream's validator refuses a pool without one", absent, "v3.IPPoolSpec", "cidr"),
	each(ofLogs, "", "v3.KubeControllersConfigurationSpec", "logSeverityScreen"),
	each("health checks only read, every ten seconds, and are off here (sim/ipam/calico, environment)", "", "v3.KubeControllersConfigurationSpec", "healthChecks"),
	each("compaction is off here (sim/ipam/calico, environment)", "", "v3.KubeControllersConfigurationSpec", "etcdV3CompactionPeriod"),
	each("nobody asks a simulated process for metrics", "", "v3.KubeControllersConfigurationSpec", "prometheusMetricsPort"),
	each("nobody profiles a simulated process", "", "v3.KubeControllersConfigurationSpec", "debugProfilePort"),
	each("the manifests of all releases have it; that the node controller is not in it is drawn", absent, "v3.KubeControllersConfigurationSpec", "controllers"),
	each(ofOthers, "", "v3.ControllersConfig", "policy", "workloadEndpoint", "serviceAccount", "namespace"),
	each(ofOthers+"; there is no Service", "", "v3.ControllersConfig", "loadBalancer"),
	each("the node controller of v3.31 does not read it", "", "v3.NodeControllerConfig", "reconcilerPeriod"),
	each(ofEndpoints, "", "v3.AutoHostEndpointConfig", "createDefaultHostEndpoint", "templates"),
	each("it is the only field of its section that is drawn", absent, "v3.AutoHostEndpointConfig", "autoCreate"),
	each("it stands at the top of the list of plugins, from where the runtime gives it to each", "", "types.NetConf", "cniVersion", "name"),
	each("the list is read by types: without one it is no plugin of Calico's", absent, "types.NetConf", "type"),
	each("several are drawn of IPv4, and upstream resolves both families alike", several, "types.NetConf", "ipam.ipv6_pools"),
	each(ofWindows, "", "types.NetConf", "mode", "vxlan_mac_prefix", "vxlan_vni", "windows_pod_deletion_timestamp_timeout", "windows_use_single_network", "windows_disable_default_deny_all_policy", "windows_loopback_DSR"),
	each("a file without it is Calico with another address manager", absent, "types.NetConf", "ipam"),
	each("upstream reads it nowhere", "", "types.NetConf", "ipam.Name"),
	each("only calico-ipam is simulated", absent, "types.NetConf", "ipam.type"),
	each("it is of host-local, another address manager", "", "types.NetConf", "ipam.subnet"),
	each("it is of Mesos", "", "types.NetConf", "args"),
	each(ofDataplane, "", "types.NetConf", "mtu", "num_queues", "container_settings", "include_default_routes", "dataplane_options", "require_mtu_file"),
	each(ofInstaller, "", "types.NetConf", "nodename", "nodename_file", "ipam_lock_file", "nodename_file_optional", "hostname"),
	each(ofAccess+", and spec.datastore says where", "", "types.NetConf", "datastore_type"),
	each(ofAccess, "", "types.NetConf", "etcd_endpoints", "etcd_discovery_srv", "etcd_scheme", "etcd_key_file", "etcd_cert_file", "etcd_ca_cert_file", "etcd_authority", "kubernetes"),
	each(ofLogs, "", "types.NetConf", "log_level", "log_file_path", "log_file_max_size", "log_file_max_age", "log_file_max_count"),
	each("without it upstream reads no annotation: no manifest of Calico for Kubernetes leaves it out", absent, "types.NetConf", "policy"),
	each("without it upstream reads no annotation: no manifest of Calico for Kubernetes leaves it out", absent, "types.Policy", "type"),
	each(ofAccess, "", "types.Policy", "k8s_api_root", "k8s_auth_token", "k8s_client_certificate", "k8s_client_key", "k8s_certificate_authority"),
	each("it is drawn off, which is the same", absent, "types.NetConf", "feature_control"),
	each("a floating address is one of the endpoint's, of which IPAM does not know", "", "types.FeatureControl", "floating_ips"),
	each("the runtime fills it, with the name servers of Windows' pods", "", "types.NetConf", "RuntimeConfig"),
	each("the loader refuses it: nothing answers there", "", "types.NetConf", "readiness_gates"),
	each("Felix has a pod's policy in place immediately here (sim/ipam/calico/adapter)", "", "types.NetConf", "policy_setup_timeout_seconds", "endpoint_status_dir"),
)
