package calico

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"ipamsim/sim/ipam"
	"ipamsim/sim/ipam/calico/record"
)

// manifests reads a multi-document YAML as a scenario's loader does.
func manifests(t testing.TB, doc string) []ipam.Object {
	t.Helper()
	var out []ipam.Object
	for _, d := range strings.Split(doc, "\n---\n") {
		body, err := yaml.YAMLToJSON([]byte(d))
		if err != nil {
			t.Fatal(err)
		}
		m := metav1.PartialObjectMetadata{}
		if err := json.Unmarshal(body, &m); err != nil {
			t.Fatal(err)
		}
		out = append(out, ipam.Object{Kind: m.Kind, Namespace: m.Namespace, Name: m.Name, Body: body})
	}
	return out
}

// crd is a manifest of a custom resource in one line.
func crd(kind, name, spec string) string {
	return fmt.Sprintf("{apiVersion: crd.projectcalico.org/v1, kind: %s, metadata: {name: %s}, spec: {%s}}", kind, name, spec)
}

// The staging cluster of seeds/000 in either spelling, settings before pools.
func TestPrimary(t *testing.T) {
	for _, version := range []string{"crd.projectcalico.org/v1", "projectcalico.org/v3"} {
		doc := strings.Join([]string{
			crd("IPAMConfig", "default", "strictAffinity: true, autoAllocateBlocks: true, maxBlocksPerHost: 2"),
			crd("IPReservation", "router", `reservedCIDRs: ["10.64.75.1"]`),
			crd("IPPool", "default-ipv4-ippool", "cidr: 10.64.75.0/24, blockSize: 26, nodeSelector: \"rack != '2'\""),
			"{apiVersion: v1, kind: Node, metadata: {name: kubestage1001}}",
			"{apiVersion: v1, kind: Node, metadata: {name: kubestage1002, labels: {rack: '2'}}}",
		}, "\n---\n")
		n, config, err := New().Primary(manifests(t, strings.ReplaceAll(doc, "crd.projectcalico.org/v1", version)))
		if err != nil {
			t.Fatal(version, err)
		}
		got := fmt.Sprintf("%s %v %+v\n%s", n.Key, n.Ranges, *n.Blocks, config)
		want := `k8s-pod-network [{10.64.75.0/24 10.64.75.0 10.64.75.255 [] 0}] {Pools:[{Name:default-ipv4-ippool Prefix:10.64.75.0/24 BlockBits:26 Disabled:false Workloads:true Tunnels:true Manual:false Selective:false Nodes:[kubestage1001] NoExport:false IPIP:Never VXLAN:Never LoadBalancers:false}] Strict:true AutoAllocate:true MaxBlocks:2 Reserved:[10.64.75.1/32] V4:true V6:false PodRoutes:false}
{"name":"k8s-pod-network","cniVersion":"0.3.1","plugins":[{"type":"calico","ipam":{"type":"calico-ipam"},"policy":{"type":"k8s"}}]}`
		if got != want {
			t.Errorf("%s: got\n%s\nwant\n%s", version, got, want)
		}
	}
}

// kubectl stores a limit of blocks without strict affinity, which calicoctl refuses, and the
// allocator obeys it.
func TestPrimaryLimitWithoutStrictAffinity(t *testing.T) {
	for _, config := range []string{
		crd("IPAMConfig", "default", "autoAllocateBlocks: true, maxBlocksPerHost: 2"),
		strings.ReplaceAll(crd("IPAMConfiguration", "default", "maxBlocksPerHost: 2"), "crd.projectcalico.org/v1", "projectcalico.org/v3"),
	} {
		n, _, err := New().Primary(manifests(t, crd("IPPool", "a", "cidr: 10.0.0.0/16")+"\n---\n"+config))
		if err != nil || n.Blocks.MaxBlocks != 2 || n.Blocks.Strict {
			t.Errorf("%s: %+v, %v", config, n, err)
		}
	}
}

// The CNI configuration as Calico's manifest installs it, with dual stack.
func TestPrimaryConfig(t *testing.T) {
	doc := `apiVersion: v1
kind: ConfigMap
metadata: {name: calico-config, namespace: kube-system}
data:
  veth_mtu: "1440"
  cni_network_config: |-
    {"name": "k8s-pod-network", "cniVersion": "1.0.0", "plugins": [
      {"type": "calico", "datastore_type": "kubernetes", "nodename": "__KUBERNETES_NODE_NAME__", "mtu": __CNI_MTU__,
       "ipam": {"type": "calico-ipam", "assign_ipv4": "true", "assign_ipv6": "true"}, "policy": {"type": "k8s"}},
      {"type": "portmap", "snat": true, "capabilities": {"portMappings": true}}]}`
	n, config, err := New().Primary(manifests(t, doc))
	if err != nil {
		t.Fatal(err)
	}
	if !n.Blocks.V4 || !n.Blocks.V6 {
		t.Errorf("%+v", n.Blocks)
	}
	part, err := pluginPart(string(config))
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal(part, &got); err != nil || got["mtu"] != 1440.0 || got["cniVersion"] != "1.0.0" || got["name"] != record.NetworkKey || got["type"] != "calico" {
		t.Errorf("%s %v", config, err)
	}
	for _, c := range []struct{ from, to, says string }{
		{`"calico-ipam"`, `"host-local"`, `ipam.type "host-local": want calico-ipam, no other can be simulated`},
		{`"assign_ipv4": "true"`, `"assign_ipv4": true`, "failed to load netconf: json: cannot unmarshal bool into Go struct field .ipam.assign_ipv4 of type string"},
		{`"assign_ipv4": "true"`, `"assign_ipv4": "yes"`, `ipam.assign_ipv4 "yes": want "true" or "false"; Calico takes everything else for the default`},
		{`"type": "calico", "d`, `"type": "macvlan", "d`, "plugins: none is of type calico"},
		{`"policy"`, `"readiness_gates": ["http://x"], "policy"`, "readiness_gates: http://x: nothing answers there, no such endpoint can be simulated"},
		{`"snat": true,`, `"snat": `, "invalid character"},
		{`"name": "k8s-pod-network"`, `"name": "cbr0"`, `name "cbr0": want k8s-pod-network`},
	} {
		_, _, err := New().Primary(manifests(t, strings.Replace(doc, c.from, c.to, 1)))
		var bad *ipam.ObjectError
		if !errors.As(err, &bad) || bad.Field != "data.cni_network_config" || bad.Object.Name != "calico-config" || !strings.Contains(bad.Err.Error(), c.says) {
			t.Errorf("%s: %v", c.to, err)
		}
	}
}

// Bad input is refused in Calico's own words, at the field it is about.
func TestPrimaryRefuses(t *testing.T) {
	good := crd("IPPool", "a", "cidr: 10.0.0.0/16")
	for _, c := range []struct{ doc, field, says string }{
		{good + "\n---\n" + crd("IPPool", "b", "cidr: 10.0.128.0/17"), "spec.cidr", "error with field IPPool.Spec.CIDR = '10.0.128.0/17' (IPPool(b) CIDR overlaps with IPPool(a) CIDR 10.0.0.0/16)"},
		{crd("IPPool", "a", "cidr: 10.0.0.0/28, blockSize: 26"), "spec.cidr", "error with field IPPool.Spec.CIDR = '10.0.0.0/28' (IP pool size is too small for use with Calico IPAM. It must be equal to or greater than the block size.)"},
		{crd("IPPool", "a", "cidr: 10.0.0.0/16, blockSize: 19"), "spec.blockSize", "error with field IPPool.Spec.BlockSize = '19' (IPv4 block size must be between 20 and 32)"},
		{crd("IPPool", "a", "cidr: 10.0.0.0/16, blockSize: 33"), "spec.blockSize", "IPv4 block size must be between 20 and 32"},
		{crd("IPPool", "a", "cidr: 'fd00::/64', blockSize: 115"), "spec.blockSize", "error with field IPPool.Spec.BlockSize = '115' (IPv6 block size must be between 116 and 128)"},
		{crd("IPPool", "a", "cidr: 'fd00::/64', blockSize: 129"), "spec.blockSize", "IPv6 block size must be between 116 and 128"},
		{crd("IPPool", "a", "cidr: 10.0.0.0/16, ipipMode: Always, vxlanMode: CrossSubnet"), "spec.vxlanMode", "error with field IPPool.Spec.VXLANMode = 'CrossSubnet' (Cannot enable both VXLAN and IPIP on the same IPPool)"},
		{crd("IPPool", "a", "cidr: 'fd00::/64', ipipMode: Always"), "spec.ipipMode", "error with field IPPool.Spec.IPIPMode = 'Always' (IPIP is not supported on an IPv6 IP pool)"},
		{crd("IPPool", "a", "cidr: 10.0.0.0/33"), "spec.cidr", "error with field IPPool.Spec.CIDR = '10.0.0.0/33' (IPPool CIDR must be a valid subnet)"},
		{crd("IPPool", "a", "blockSize: 26"), "spec.cidr", "error with field IPPool.Spec.CIDR (IPPool CIDR must be specified)"},
		{crd("IPPool", "a", "cidr: 10.0.0.1/16"), "spec.cidr", "IPPool CIDR is not strictly masked"},
		{crd("IPPool", "a", "cidr: 169.254.0.0/17"), "spec.cidr", "IPPool CIDR overlaps with IPv4 Link Local range 169.254.0.0/16"},
		{crd("IPPool", "a", "cidr: 10.0.0.0/16, assignmentMode: Sometimes"), "spec.assignmentMode", "Reason: failed to validate Field: AssignmentMode because of Tag: assignmentMode"},
		{crd("IPPool", "a", "cidr: 10.0.0.0/16, allowedUses: [Workload, Pets]"), "spec.allowedUses", "unknown use: Pets"},
		{crd("IPPool", "a", "cidr: 10.0.0.0/16, nodeSelector: 'rack ='"), "spec.nodeSelector", "Reason: failed to validate Field: NodeSelector because of Tag: selector"},
		{crd("IPPool", "a", "cidr: 10.0.0.0/16, nodeSelector: 'global()'"), "spec.nodeSelector", "global() selector is not valid for IPPool nodeSelector - use all() instead"},
		{crd("IPPool", "a", "cidr: 10.0.0.0/16, namespaceSelector: 'all()'"), "spec.namespaceSelector", "IP Pool with AllowedUse Tunnel cannot have namespaceSelector specified"},
		{crd("IPPool", "a", "cidr: 10.0.0.0/16, blocksize: 26"), "spec.blocksize", `unknown field "spec.blocksize"`},
		{crd("IPPool", "a", "cidr: 10.0.0.0/16, blockSize: big"), "spec.blockSize", "cannot unmarshal string into Go struct field IPPoolSpec.spec.blockSize of type int"},
		{crd("IPPool", "A_b", "cidr: 10.0.0.0/16"), "metadata.name", "Name"},
		{strings.Replace(good, "crd.projectcalico.org/v1", "crd.projectcalico.org/v2", 1), "apiVersion", `"crd.projectcalico.org/v2": want crd.projectcalico.org/v1 or projectcalico.org/v3`},
		{crd("IPAMConfig", "default", "strictAffinity: false"), "spec.autoAllocateBlocks", "Cannot disable 'StrictAffinity' and 'AutoAllocateBlocks' at the same time"},
		{crd("IPAMConfig", "default", "strictAffinity: true, maxBlocksPerHost: -1"), "spec.maxBlocksPerHost", "must be greater than or equal to 0"},
		{crd("IPAMConfig", "mine", "strictAffinity: true"), "metadata.name", `Cannot create a IPAMConfiguration resource with a name other than "default"`},
		{crd("IPReservation", "r", `reservedCIDRs: ["10.0.0.0/33"]`), "spec.reservedCIDRs", "because of Tag: cidrs"},
		{crd("BGPPeer", "p", "peerIP: 192.0.2.1, peerSelector: all()"), "spec.peerIP", "PeerIP field must be empty when PeerSelector is specified"},
		{crd("BGPPeer", "p", "peerIP: nowhere, asNumber: 64512"), "spec.peerIP", "PeerIP"},
		{crd("BGPConfiguration", "default", "nodeToNodeMeshEnabled: true, nodeMeshMaxRestartTime: soon"), "", "soon"},
		{crd("FelixConfiguration", "default", "ipipMTU: many"), "spec.ipipMTU", "cannot unmarshal string"},

		{crd("IPAMBlock", "10-0-0-0-26", "cidr: 10.0.0.64/26, allocations: [], unallocated: [], attributes: [], strictAffinity: false"), "metadata.name", `"10-0-0-0-26": Calico calls this object 10-0-0-64-26`},
		{crd("IPAMBlock", "10-0-0-0-26", "cidr: 10.0.0.0"), "spec.cidr", "invalid CIDR address: 10.0.0.0"},
		{crd("IPAMBlock", "10-0-0-0-31", "cidr: 10.0.0.0/31, allocations: [null, null, null]"), "spec.allocations", "block 10.0.0.0/31 has room for 2 addresses, but lists 3"},
		{crd("BlockAffinity", "a-10-0-0-0-26", "cidr: 10.0.0.0/26, node: a, state: claimed"), "spec.state", `"claimed" of the affinity of a to 10.0.0.0/26 is unknown`},
		{crd("IPAMHandle", "h", "handleID: h, block: {10.0.0.0: 1}"), "spec.block", `handle h counts in a block "10.0.0.0"`},
	} {
		_, _, err := New().Primary(manifests(t, c.doc))
		var bad *ipam.ObjectError
		if !errors.As(err, &bad) || bad.Field != c.field || !strings.Contains(bad.Err.Error(), c.says) {
			f := ""
			if bad != nil {
				f = bad.Field
			}
			t.Errorf("%s\n at %q: %v", c.doc, f, err)
		}
	}
}

// Everything that Calico accepts is accepted: blocks of another size than their pool's, before the
// pool in the file, and objects of all kinds.
func TestPrimaryAccepts(t *testing.T) {
	doc := strings.Join([]string{
		crd("BlockAffinity", "node-1-10-0-0-0-28", "cidr: 10.0.0.0/28, node: node-1, state: confirmed, deleted: 'false'"),
		crd("IPAMBlock", "10-0-0-0-28", "cidr: 10.0.0.0/28, affinity: 'host:node-1', allocations: [0], unallocated: [1], attributes: [{handle_id: h}], strictAffinity: false"),
		crd("IPAMHandle", "h", "handleID: h, block: {10.0.0.0/28: 1}"),
		crd("IPPool", "a", "cidr: 10.0.0.0/16"),
		crd("BGPConfiguration", "default", "nodeToNodeMeshEnabled: false, asNumber: 64512"),
		crd("BGPPeer", "tor", "peerIP: 192.0.2.1, asNumber: 64512"),
		crd("FelixConfiguration", "default", "vxlanMTU: 1410"),
		crd("KubeControllersConfiguration", "default", "controllers: {node: {leakGracePeriod: 15m}}"),
		crd("ClusterInformation", "default", "clusterType: k8s"),
	}, "\n---\n")
	if _, _, err := New().Primary(manifests(t, doc)); err != nil {
		t.Error(err)
	}
}
