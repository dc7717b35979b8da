package scenarios_test

import (
	"context"
	"flag"
	"fmt"
	"strings"
	"testing"
	"time"

	"ipamsim/reports/bench"
)

var (
	manyPods  = flag.Int("look.pods", 3000, "number of pods that TestInspectLarge inspects")
	manyNodes = flag.Int("look.nodes", 200, "number of nodes")
)

// large is a cluster as an import writes it: every pod with an address of its node's
// blocks of 64.
func large(pods, nodes int, datastore string) string {
	var b strings.Builder
	fmt.Fprintf(&b, `apiVersion: ipamsim.dev/v1alpha1
kind: Scenario
metadata: {name: large}
spec: {ipam: calico, datastore: %s, until: 1m, fabric: {topology: tor}}
---
apiVersion: crd.projectcalico.org/v1
kind: IPPool
metadata: {name: default}
spec: {cidr: 10.0.0.0/8, blockSize: 26, ipipMode: Never, vxlanMode: Never, nodeSelector: all()}
`, datastore)
	for n := range nodes {
		fmt.Fprintf(&b, `---
apiVersion: v1
kind: Node
metadata: {name: node-%05d, annotations: {projectcalico.org/IPv4Address: 192.168.%d.%d/16}}
status: {conditions: [{type: Ready, status: "True"}]}
`, n, n/200, n%200+20)
	}
	per := (pods + nodes - 1) / nodes
	block := 0
	for n := range nodes {
		for first := 0; first < per; first += 64 {
			base := fmt.Sprintf("10.%d.%d.%d", block>>10, block>>2&255, block&3*64)
			dashed := strings.ReplaceAll(base, ".", "-") + "-26"
			var alloc, free, attrs []string
			for i := range 64 {
				if first+i >= per {
					alloc, free = append(alloc, "null"), append(free, fmt.Sprint(i))
					continue
				}
				alloc = append(alloc, fmt.Sprint(i))
				attrs = append(attrs, fmt.Sprintf("  - {handle_id: k8s-pod-network.c%d-%d, secondary: {namespace: team-%d, node: node-%05d, pod: app-%d-%d, timestamp: \"2025\"}}\n", n, first+i, n%10, n, n, first+i))
			}
			fmt.Fprintf(&b, `---
apiVersion: crd.projectcalico.org/v1
kind: IPAMBlock
metadata: {name: %s}
spec:
  cidr: %s/26
  affinity: host:node-%05d
  allocations: [%s]
  unallocated: [%s]
  attributes:
%s  deleted: false
  strictAffinity: false
---
apiVersion: crd.projectcalico.org/v1
kind: BlockAffinity
metadata: {name: node-%05d-%s}
spec: {cidr: %s/26, deleted: "false", node: node-%05d, state: confirmed}
`, dashed, base, n, strings.Join(alloc, ", "), strings.Join(free, ", "), strings.Join(attrs, ""), n, dashed, base, n)
			for i := range min(64, per-first) {
				addr := fmt.Sprintf("10.%d.%d.%d", block>>10, block>>2&255, block&3*64+i)
				id := fmt.Sprintf("c%d-%d", n, first+i)
				fmt.Fprintf(&b, `---
apiVersion: crd.projectcalico.org/v1
kind: IPAMHandle
metadata: {name: k8s-pod-network.%s}
spec: {block: {%s/26: 1}, handleID: k8s-pod-network.%s}
---
apiVersion: v1
kind: Pod
metadata:
  name: app-%d-%d
  namespace: team-%d
  labels: {app: app}
  annotations:
    cni.projectcalico.org/containerID: %s
    cni.projectcalico.org/podIP: %s/32
    cni.projectcalico.org/podIPs: %s/32
spec: {nodeName: node-%05d, containers: [{name: main, image: registry.example/web:1}]}
status: {phase: Running, podIP: %s, podIPs: [{ip: %s}], conditions: [{type: Ready, status: "True"}]}
`, id, base, id, n, first+i, n%10, id, addr, addr, n, addr, addr)
			}
			block++
		}
	}
	return b.String()
}

// A cluster too large to be run can be looked at, and those nodes that something is
// odd about are asked for their ways: the last one has an address of the first.
func TestInspectLarge(t *testing.T) {
	text := large(*manyPods, *manyNodes, "kubernetes")
	last := fmt.Sprintf("node-%05d", *manyNodes-1)
	text = strings.Replace(text, "nodeName: node-00000", "nodeName: "+last, 1)
	size, cpu, start := len(text)>>20, bench.CPU(), time.Now()
	s := parse(t, text)
	text = ""
	parsed, parsedIn := bench.CPU()-cpu, time.Since(start)
	cpu, start = bench.CPU(), time.Now()
	v, err := runner(t).Inspect(context.Background(), s)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d MiB of YAML: loaded in %s (%s of processor time), inspected in %s (%s), %.0f MiB", size,
		parsedIn.Round(time.Millisecond), parsed.Round(time.Millisecond),
		time.Since(start).Round(time.Millisecond), (bench.CPU() - cpu).Round(time.Millisecond), rss(t)/(1<<20))
	if len(v.Truth.Sandboxes) != *manyPods || len(v.Record.Claims) != *manyPods {
		t.Errorf("%d sandboxes and %d claims, want %d", len(v.Truth.Sandboxes), len(v.Record.Claims), *manyPods)
	}
	want := "blackholed-address: address 10.0.0.0, node node-00000, pod team-0/app-0-0"
	if got := verdicts(v); got != want {
		t.Errorf("%d violations, %.300s, want %s", len(v.Violations), got, want)
	}
}
