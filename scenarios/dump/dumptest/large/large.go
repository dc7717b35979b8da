// Package large writes dumps of clusters that are too large for testdata, as the command
// prints them that ipamsim import --print-dump-command prints.
package large

import (
	"fmt"
	"strings"
)

// Size is how much of everything a dump has. Nodes is required.
type Size struct {
	Pods, Nodes int
	// Leaks are addresses that are claimed for pods that do not exist.
	Leaks    int
	Services int
	// Noise is how many bytes of fields that are not read each pod has.
	Noise int
	// Twice are pods that report the address of the pod before them, and Astray means that each
	// block belongs to another node than the one that has its addresses.
	Twice  int
	Astray bool
}

// writer writes lists with their numbers of objects.
type writer struct{ strings.Builder }

func (w *writer) list(resource string, n int, item func(i int)) {
	fmt.Fprintf(w, "--- # %s\napiVersion: v1\nitems:", resource)
	if n == 0 {
		w.WriteString(" []")
	}
	w.WriteString("\n")
	for i := range n {
		item(i)
	}
	fmt.Fprintf(w, "kind: List\nmetadata:\n  resourceVersion: \"\"\n--- # %d %s\n", n, resource)
}

// namespaces are how many there are.
const namespaces = 50

// addr is the i-th address of 10.0.0.0/8, which has blocks of 64.
func addr(i int) string { return fmt.Sprintf("10.%d.%d.%d", i>>16&255, i>>8&255, i&255) }

// reports is the pod whose address a pod reports.
func (s *Size) reports(pod int) int {
	if pod%2 == 1 && pod/2 < s.Twice {
		return pod - 1
	}
	return pod
}

// owner is whose the blocks of a node are.
func (s *Size) owner(node int) int {
	if s.Astray {
		return (node + 1) % s.Nodes
	}
	return node
}

func (s *Size) node(pod int) int          { return pod % s.Nodes }
func podName(i int) string                { return fmt.Sprintf("web-%d", i) }
func namespace(i int) string              { return fmt.Sprintf("team-%d", i%namespaces) }
func container(i int) string              { return fmt.Sprintf("f%063x", i+1<<20) }
func (w *writer) line(f string, a ...any) { fmt.Fprintf(w, f+"\n", a...) }

// cluster writes namespaces and nodes.
func (w *writer) cluster(s *Size, podCIDRs bool) {
	w.list("namespaces", namespaces, func(i int) {
		w.line("- apiVersion: v1\n  kind: Namespace\n  metadata:\n    name: %s", namespace(i))
	})
	w.list("nodes", s.Nodes, func(i int) {
		w.line("- apiVersion: v1\n  kind: Node\n  metadata:\n    annotations:\n      projectcalico.org/IPv4Address: 192.168.%d.%d/16\n    name: node-%05d", i/200, i%200+20, i)
		if podCIDRs {
			w.line("  spec:\n    podCIDR: 10.%d.%d.0/24\n    podCIDRs:\n    - 10.%d.%d.0/24", i>>8, i&255, i>>8, i&255)
		}
		w.line("  status:\n    addresses:\n    - address: 192.168.%d.%d\n      type: InternalIP\n    conditions:\n    - status: \"True\"\n      type: Ready", i/200, i%200+20)
	})
}

// pods writes the pods; notes are the annotations of one, and its status address.
func (w *writer) pods(s *Size, notes func(i int) (lines, address string)) {
	w.list("pods", s.Pods, func(i int) {
		lines, address := notes(i)
		w.line("- apiVersion: v1\n  kind: Pod\n  metadata:\n    annotations:\n%s    labels:\n      app: web", lines)
		if s.Noise > 0 {
			w.WriteString("    managedFields:\n")
		}
		for n := 0; n < s.Noise; n += len(noise) {
			w.WriteString(noise)
		}
		w.line("    name: %s\n    namespace: %s\n    resourceVersion: \"%d\"", podName(i), namespace(i), i+1000)
		w.line("  spec:\n    containers:\n    - image: registry.example/web:1\n      name: web\n    nodeName: node-%05d", s.node(i))
		w.line("  status:\n    phase: Running\n    podIP: %s\n    podIPs:\n    - ip: %s", address, address)
	})
}

const noise = `    - apiVersion: v1
      fieldsType: FieldsV1
      fieldsV1:
        f:metadata:
          f:labels:
            .: {}
            f:app: {}
      manager: kube-controller-manager
`

// Calico is a dump of Calico's record in Kubernetes: each node has blocks of 64, with the
// addresses of its pods and of its leaks.
func Calico(s Size) []byte {
	w := &writer{}
	w.cluster(&s, false)
	c := newBlocks(&s)
	w.list("ippools.crd.projectcalico.org", 1, func(int) {
		w.line("- apiVersion: crd.projectcalico.org/v1\n  kind: IPPool\n  metadata:\n    name: default\n  spec:\n    blockSize: 26\n    cidr: 10.0.0.0/8\n    ipipMode: Never\n    natOutgoing: true\n    nodeSelector: all()\n    vxlanMode: Never")
	})
	for _, kind := range []string{"ipreservations", "bgppeers", "kubecontrollersconfigurations"} {
		w.list(kind+".crd.projectcalico.org", 0, nil)
	}
	w.list("ipamconfigs.crd.projectcalico.org", 1, func(int) {
		w.line("- apiVersion: crd.projectcalico.org/v1\n  kind: IPAMConfig\n  metadata:\n    name: default\n  spec:\n    autoAllocateBlocks: true\n    maxBlocksPerHost: 0\n    strictAffinity: false")
	})
	w.list("bgpconfigurations.crd.projectcalico.org", 1, func(int) {
		w.line("- apiVersion: crd.projectcalico.org/v1\n  kind: BGPConfiguration\n  metadata:\n    name: default\n  spec:\n    asNumber: 64512\n    nodeToNodeMeshEnabled: true")
	})
	w.list("ipamblocks.crd.projectcalico.org", len(c.of), func(b int) { w.block(c, b) })
	w.list("blockaffinities.crd.projectcalico.org", len(c.of), func(b int) {
		base := addr(b * 64)
		w.line("- apiVersion: crd.projectcalico.org/v1\n  kind: BlockAffinity\n  metadata:\n    name: node-%05d-%s-26\n  spec:\n    cidr: %s/26\n    deleted: \"false\"\n    node: node-%05d\n    state: confirmed", s.owner(c.of[b]), strings.ReplaceAll(base, ".", "-"), base, s.owner(c.of[b]))
	})
	w.list("ipamhandles.crd.projectcalico.org", len(c.address), func(i int) {
		w.line("- apiVersion: crd.projectcalico.org/v1\n  kind: IPAMHandle\n  metadata:\n    name: k8s-pod-network.%s\n  spec:\n    block:\n      %s/26: 1\n    deleted: false\n    handleID: k8s-pod-network.%s", container(i), addr(c.address[i]&^63), container(i))
	})
	w.pods(&s, func(i int) (string, string) {
		a := addr(c.address[s.reports(i)])
		return fmt.Sprintf("      cni.projectcalico.org/containerID: %s\n      cni.projectcalico.org/podIP: %s/32\n      cni.projectcalico.org/podIPs: %s/32\n", container(i), a, a), a
	})
	return []byte(w.String())
}

// blocks are Calico's: whose they are, and who has which address.
type blocks struct {
	of      []int   // nodes, by block
	claims  [][]int // pods and leaks, by block, from its first address on
	address []int   // by pod; leaks come after the pods
	s       *Size
}

func newBlocks(s *Size) *blocks {
	c := &blocks{s: s, address: make([]int, s.Pods+s.Leaks)}
	open := map[int]int{} // the last block of a node
	for i := range c.address {
		n := s.node(i)
		b, ok := open[n]
		if !ok || len(c.claims[b]) == 64 {
			b = len(c.of)
			open[n], c.of, c.claims = b, append(c.of, n), append(c.claims, nil)
		}
		c.address[i] = b*64 + len(c.claims[b])
		c.claims[b] = append(c.claims[b], i)
	}
	return c
}

func (w *writer) block(c *blocks, b int) {
	base := addr(b * 64)
	w.line("- apiVersion: crd.projectcalico.org/v1\n  kind: IPAMBlock\n  metadata:\n    name: %s-26\n  spec:\n    affinity: host:node-%05d\n    allocations:", strings.ReplaceAll(base, ".", "-"), c.s.owner(c.of[b]))
	for i := range 64 {
		if i < len(c.claims[b]) {
			w.line("    - %d", i)
			continue
		}
		w.line("    - null")
	}
	w.line("    attributes:")
	for _, i := range c.claims[b] {
		w.line("    - handle_id: k8s-pod-network.%s\n      secondary:\n        namespace: %s\n        node: node-%05d\n        pod: %s\n        timestamp: 2026-05-01 10:00:00 +0000 UTC", container(i), namespace(i), c.of[b], podName(i))
	}
	w.line("    cidr: %s/26\n    deleted: false\n    sequenceNumber: 100\n    strictAffinity: false", base)
	if len(c.claims[b]) == 64 {
		w.line("    unallocated: []")
		return
	}
	w.line("    unallocated:")
	for i := len(c.claims[b]); i < 64; i++ {
		w.line("    - %d", i)
	}
}

// Whereabouts is a dump of one network of Whereabouts', with a reservation for each pod and
// for each leak, and of pods that have their first address from each node's podCIDR.
func Whereabouts(s Size) []byte {
	w := &writer{}
	w.cluster(&s, false)
	const config = `{"cniVersion": "1.0.0", "name": "net", "type": "macvlan", "master": "eth1", "ipam": {"type": "whereabouts", "range": "10.0.0.0/8"}}`
	w.list("network-attachment-definitions.k8s.cni.cncf.io", 1, func(int) {
		w.line("- apiVersion: k8s.cni.cncf.io/v1\n  kind: NetworkAttachmentDefinition\n  metadata:\n    name: net\n    namespace: %s\n  spec:\n    config: '%s'", namespace(0), config)
	})
	w.list("ippools.whereabouts.cni.cncf.io", 1, func(int) {
		w.line("- apiVersion: whereabouts.cni.cncf.io/v1alpha1\n  kind: IPPool\n  metadata:\n    name: 10.0.0.0-8\n    namespace: kube-system\n  spec:\n    allocations:")
		for i := range s.Pods + s.Leaks {
			w.line("      \"%d\":\n        id: %s\n        ifname: net1\n        podref: %s/%s", i+1, container(i), namespace(i), podName(i))
		}
		w.line("    range: 10.0.0.0/8")
	})
	w.list("overlappingrangeipreservations.whereabouts.cni.cncf.io", s.Pods+s.Leaks, func(i int) {
		w.line("- apiVersion: whereabouts.cni.cncf.io/v1alpha1\n  kind: OverlappingRangeIPReservation\n  metadata:\n    name: %s\n    namespace: kube-system\n  spec:\n    ifname: net1\n    podref: %s/%s", addr(i+1), namespace(i), podName(i))
	})
	w.list("nodeslicepools.whereabouts.cni.cncf.io", 0, nil)
	w.pods(&s, func(i int) (string, string) {
		a := fmt.Sprintf("172.%d.%d.%d", 16+i>>16, i>>8&255, i&255)
		status := fmt.Sprintf(`[{"name":"cni0","interface":"eth0","ips":["%s"],"default":true},{"name":"%s/net","interface":"net1","ips":["%s"]}]`, a, namespace(0), addr(i+1))
		return fmt.Sprintf("      k8s.v1.cni.cncf.io/network-status: '%s'\n      k8s.v1.cni.cncf.io/networks: %s/net\n", status, namespace(0)), a
	})
	return []byte(w.String())
}

// Services is a dump of Services and their IPAddresses.
func Services(s Size) []byte {
	w := &writer{}
	w.list("namespaces", namespaces, func(i int) {
		w.line("- apiVersion: v1\n  kind: Namespace\n  metadata:\n    name: %s", namespace(i))
	})
	w.list("servicecidrs.networking.k8s.io", 1, func(int) {
		w.line("- apiVersion: networking.k8s.io/v1\n  kind: ServiceCIDR\n  metadata:\n    name: kubernetes\n  spec:\n    cidrs:\n    - 10.0.0.0/12")
	})
	w.list("ipaddresses.networking.k8s.io", s.Services+s.Leaks, func(i int) {
		ns, name := serviceName(i)
		w.line("- apiVersion: networking.k8s.io/v1\n  kind: IPAddress\n  metadata:\n    labels:\n      ipaddress.kubernetes.io/ip-family: IPv4\n      ipaddress.kubernetes.io/managed-by: ipallocator.k8s.io\n    name: %s\n  spec:\n    parentRef:\n      group: \"\"\n      name: %s\n      namespace: %s\n      resource: services", addr(i+1), name, ns)
	})
	w.list("services", s.Services, func(i int) {
		ns, name := serviceName(i)
		w.line("- apiVersion: v1\n  kind: Service\n  metadata:\n    name: %s\n    namespace: %s\n  spec:\n    clusterIP: %s\n    clusterIPs:\n    - %s\n    ipFamilies:\n    - IPv4\n    ipFamilyPolicy: SingleStack\n    ports:\n    - port: 80\n      protocol: TCP\n    type: ClusterIP", name, ns, addr(i+1), addr(i+1))
	})
	return []byte(w.String())
}

func serviceName(i int) (namespaceOf, name string) {
	if i == 0 {
		return "default", "kubernetes"
	}
	return namespace(i), fmt.Sprintf("service-%d", i)
}

// PodsAndNodes is a dump of pods and nodes alone, with podCIDRs. Each pod has an address of
// its node's.
func PodsAndNodes(s Size) []byte {
	w := &writer{}
	w.cluster(&s, true)
	w.pods(&s, func(i int) (string, string) {
		i = s.reports(i)
		n := s.node(i)
		return "      example.org/note: none\n", fmt.Sprintf("10.%d.%d.%d", n>>8, n&255, 2+i/s.Nodes)
	})
	return []byte(w.String())
}
