package dump_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"ipamsim/cmd/managers"
	"ipamsim/model"
	"ipamsim/scenarios/dump"
	"ipamsim/scenarios/dump/diagnosis"
	"ipamsim/scenarios/scenariotest"
)

// twoNodes is a dump of two nodes, a pool with a block of node-a's, and a pod on a node with
// an address of it. %[1]s is the pool, %[2]s the block, %[3]s its name, %[4]s the pod's
// address, %[5]s its node, %[6]s and %[7]s the nodes' own addresses, %[8]s what else there
// is, %[9]d the size of blocks.
const twoNodes = `
apiVersion: v1
kind: List
items:
- apiVersion: crd.projectcalico.org/v1
  kind: IPPool
  metadata: {name: pool}
  spec: {cidr: "%[1]s", blockSize: %[9]d, ipipMode: Never, vxlanMode: Never, nodeSelector: all()}
- apiVersion: crd.projectcalico.org/v1
  kind: IPAMBlock
  metadata: {name: %[3]s}
  spec:
    cidr: "%[2]s"
    affinity: host:node-a
    allocations: [null, null, 0, null, null, null, null, null]
    unallocated: [0, 1, 3, 4, 5, 6, 7]
    attributes: [{handle_id: k8s-pod-network.c0, secondary: {namespace: default, node: %[5]s, pod: web-0}}]
    deleted: false
    strictAffinity: false
- {apiVersion: crd.projectcalico.org/v1, kind: BlockAffinity, metadata: {name: node-a-%[3]s}, spec: {cidr: "%[2]s", deleted: "false", node: node-a, state: confirmed}}
- {apiVersion: crd.projectcalico.org/v1, kind: IPAMHandle, metadata: {name: k8s-pod-network.c0}, spec: {handleID: k8s-pod-network.c0, block: {"%[2]s": 1}, deleted: false}}
- {apiVersion: v1, kind: Node, metadata: {name: node-a, annotations: {%[6]s}}, status: {conditions: [{type: Ready, status: "True"}]}}
- {apiVersion: v1, kind: Node, metadata: {name: node-b, annotations: {%[7]s}}, status: {conditions: [{type: Ready, status: "True"}]}}
- apiVersion: v1
  kind: Pod
  metadata: {name: web-0, namespace: default, uid: u0, annotations: {cni.projectcalico.org/containerID: c0}, ownerReferences: [{apiVersion: apps/v1, kind: StatefulSet, name: web, uid: s, controller: true}]}
  spec: {nodeName: %[5]s, containers: [{name: c, image: i}]}
  status: {phase: Running, podIP: "%[4]s", podIPs: [{ip: "%[4]s"}]}
- apiVersion: apps/v1
  kind: StatefulSet
  metadata: {name: web, namespace: default, uid: s}
  spec: {replicas: 1, serviceName: web, selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: i}]}}}
%[8]s`

func readText(t *testing.T, text string) answer {
	t.Helper()
	c := dump.New(managers.All())
	if err := c.Read("dump.yaml", strings.NewReader(text), nil); err != nil {
		t.Fatal(err)
	}
	out := importAll(scenariotest.Runner(t), c, "dump")
	if out.err != nil {
		t.Fatal(out.err)
	}
	return out
}

func codes(a answer) (out []string) {
	for i := range a.findings.All {
		out = append(out, a.findings.All[i].Invariant+" "+a.findings.All[i].Code)
	}
	return out
}

// A BGPPeer of IPv6 is a peer, with a port or without: what is borrowed of an IPv6 block is
// dropped by its owner, which hears nothing of it from a router of its own AS.
func TestPeersOfIPv6(t *testing.T) {
	own := func(n int) string {
		return fmt.Sprintf(`projectcalico.org/IPv4Address: 10.0.0.%d/24, projectcalico.org/IPv6Address: "fd64:16::%d/64"`, n, n)
	}
	for _, peer := range []string{"fd64:16::1", "[fd64:16::1]:179"} {
		a := readText(t, fmt.Sprintf(twoNodes, "fd64:75::/125", "fd64:75::/125", "fd64-75---125", "fd64:75::2", "node-b", own(11), own(12), `
- {apiVersion: crd.projectcalico.org/v1, kind: BGPConfiguration, metadata: {name: default}, spec: {nodeToNodeMeshEnabled: false, asNumber: 64601}}
- {apiVersion: crd.projectcalico.org/v1, kind: BGPPeer, metadata: {name: tor}, spec: {peerIP: "`+peer+`", asNumber: 64602}}
`, 125))
		if got := codes(a); !slices.Contains(got, "blackholed-address dropped-at-source") {
			t.Errorf("peer %s: findings %q, want a blackholed-address", peer, got)
		}
		if strings.Contains(a.printed, "full mesh") {
			t.Errorf("peer %s: a mesh is assumed:\n%s", peer, a.printed)
		}
	}
}

// A pod with an address of its own node's is restarted once that is reserved. Where the
// address is another node's, the block around it stays, and its owner drops what it sends
// to that node: no remedy is offered.
func TestNodesAddressIsReserved(t *testing.T) {
	own := func(n int) string { return fmt.Sprintf(`projectcalico.org/IPv4Address: 10.64.75.%d/24`, n) }
	read := func(a, b int) string {
		x := readText(t, fmt.Sprintf(twoNodes, "10.64.75.0/28", "10.64.75.0/29", "10-64-75-0-29", "10.64.75.2", "node-a", own(a), own(b), "", 29))
		if got := codes(x); !slices.Equal(got, []string{"duplicate-address own-address-of-a-node"}) {
			t.Errorf("findings %q", got)
		}
		return x.printed
	}
	printed := read(2, 33)
	for _, want := range []string{"simulated: 2 steps", "IPReservation", "10.64.75.2/32", "kubectl delete pod -n default web-0"} {
		if !strings.Contains(printed, want) {
			t.Errorf("%q is not in\n%s", want, printed)
		}
	}
	if printed := read(1, 2); !strings.Contains(printed, "no safe remediation found") {
		t.Errorf("a remedy is offered:\n%s", printed)
	}
}

// crowdedSix is a dual-stack site where node-c has an IPv4 block but no IPv6 block: node-a has two
// and does not need the second; node-d has one with room.
func crowdedSix() *site {
	s := &site{dual: true}
	s.crd("BGPConfiguration", "default", obj{"asNumber": 64601, "nodeToNodeMeshEnabled": false})
	s.crd("BGPPeer", "router", obj{"asNumber": 14907, "peerIP": "192.168.0.1"})
	s.crd("BGPPeer", "router6", obj{"asNumber": 14907, "peerIP": "fd00:192::1"})
	s.pool("main", "10.0.0.0/27", nil)
	s.pool("six", "fd00:1::/124", obj{"blockSize": 125})
	s.node("node-a", 1, nil, nil)
	s.node("node-c", 3, nil, nil)
	s.node("node-d", 4, nil, nil)
	s.pool("six-more", "fd00:2::/125", obj{"blockSize": 125})
	s.block("10.0.0.0/29", "node-a", true)
	s.block("10.0.0.8/29", "node-c", true)
	s.block("10.0.0.16/29", "node-d", true)
	s.block("fd00:2::/125", "node-d", true)
	s.pod("db-1", "node-d", "10.0.0.17 fd00:2::1", "ReplicaSet/db", true, nil)
	s.block("fd00:1::/125", "node-a", true)
	s.block("fd00:1::8/125", "node-a", true)
	s.pod("web-1", "node-a", "10.0.0.1 fd00:1::1", "ReplicaSet/web", true, nil)
	s.pod("web-2", "node-a", "10.0.0.2 fd00:1::9", "ReplicaSet/web", true, nil)
	return s
}

// A loss in IPv6 alone is found in IPv6 alone, and fixed by an IPv6 block.
func TestProveSpareBlockOfIPv6(t *testing.T) {
	s := crowdedSix()
	s.pod("web-3", "node-c", "10.0.0.9 fd00:1::2", "ReplicaSet/web", true, nil)
	f := s.proven(t)
	if len(f.All) != 1 || diagnosis.ObjectsOf(&f.All[0].Violation)[model.RefAddress] != "fd00:1::2" {
		t.Errorf("want fd00:1::2 alone:\n%s", printed(f))
	}
	says(t, f, "finding: blackholed-address", "blackhole fd00:1::/125", "ip route get fd00:1::2 on node-a",
		"kubectl delete ipamblocks.crd.projectcalico.org fd00-1--8-125 && kubectl delete blockaffinities.crd.projectcalico.org node-a-fd00-1--8-125", simulated, "no new findings")
}

// Nothing is lost yet: the next pod on node-c is going to be, in IPv6.
func TestPredictsIPv6(t *testing.T) {
	c := crowdedSix().cluster(t)
	text, parsed, _ := scenario(t, c, dump.Options{})
	if got := wrong(inspect(t, parsed)); len(got) > 0 {
		t.Errorf("at the time of the dump: %v", got)
	}
	var do operator
	do.pod("next", "node-c")
	if got, _ := do.run(t, text); !slices.Equal(got, []string{"blackholed-address"}) {
		t.Errorf("got %v", got)
	}
}
