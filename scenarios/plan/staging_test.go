package plan_test

import (
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ipamsim/cmd/managers"
	"ipamsim/reports/answer"
	"ipamsim/scenarios/dump"
	"ipamsim/scenarios/plan"
	"ipamsim/sim/longtest"
)

// stagingDump is what kubectl get -o yaml would have printed of T293729's cluster
// before the two nodes were added: 45 pods on each of two nodes, each with a block of
// its own.
func stagingDump() string {
	var b strings.Builder
	item := func(format string, args ...any) { fmt.Fprintf(&b, "- "+format+"\n", args...) }
	b.WriteString("apiVersion: v1\nkind: List\nitems:\n")
	item(`{apiVersion: crd.projectcalico.org/v1, kind: IPPool, metadata: {name: default-ipv4-ippool}, spec: {cidr: 10.64.75.0/24, blockSize: 26, ipipMode: Never, vxlanMode: Never, nodeSelector: all()}}`)
	item(`{apiVersion: crd.projectcalico.org/v1, kind: IPAMConfig, metadata: {name: default}, spec: {autoAllocateBlocks: true, strictAffinity: false, maxBlocksPerHost: 0}}`)
	for n := range 2 {
		node := fmt.Sprintf("kubestage100%d.eqiad.wmnet", n+1)
		block := netip.MustParsePrefix(fmt.Sprintf("10.64.75.%d/26", 64*n))
		name := fmt.Sprintf("10-64-75-%d-26", 64*n)
		item(`{apiVersion: v1, kind: Node, metadata: {name: %s, annotations: {projectcalico.org/IPv4Address: 10.64.0.%d/22}}, status: {conditions: [{type: Ready, status: "True"}]}}`, node, 247+n)
		item(`{apiVersion: crd.projectcalico.org/v1, kind: BlockAffinity, metadata: {name: %s-%s}, spec: {cidr: %s, deleted: "false", node: %s, state: confirmed, type: host}}`, node, name, block, node)
		var allocations, attributes, unallocated []string
		at := block.Addr()
		for i := range 64 {
			if i >= 45 {
				allocations, unallocated = append(allocations, "null"), append(unallocated, fmt.Sprint(i))
				continue
			}
			pod, id := fmt.Sprintf("web-%d-%d", n, i), fmt.Sprintf("c%d-%d", n, i)
			allocations = append(allocations, fmt.Sprint(i))
			attributes = append(attributes, fmt.Sprintf(`{handle_id: k8s-pod-network.%s, secondary: {namespace: default, node: %s, pod: %s, timestamp: "2021-11-01"}}`, id, node, pod))
			item(`{apiVersion: crd.projectcalico.org/v1, kind: IPAMHandle, metadata: {name: k8s-pod-network.%s}, spec: {block: {%s: 1}, deleted: false, handleID: k8s-pod-network.%s}}`, id, block, id)
			item(`{apiVersion: v1, kind: Pod, metadata: {name: %s, namespace: default, annotations: {cni.projectcalico.org/containerID: %s, cni.projectcalico.org/podIP: %s/32, cni.projectcalico.org/podIPs: %s/32}}, spec: {nodeName: %s, containers: [{name: main, image: web}]}, status: {phase: Running, podIP: %s, podIPs: [{ip: %s}], conditions: [{type: Ready, status: "True"}]}}`,
				pod, id, at, at, node, at, at)
			at = at.Next()
		}
		item(`{apiVersion: crd.projectcalico.org/v1, kind: IPAMBlock, metadata: {name: %s}, spec: {cidr: %s, affinity: "host:%s", allocations: [%s], attributes: [%s], unallocated: [%s], deleted: false, strictAffinity: false}}`,
			name, block, node, strings.Join(allocations, ", "), strings.Join(attributes, ", "), strings.Join(unallocated, ", "))
	}
	return b.String()
}

// imported is what import makes of a dump.
func imported(t *testing.T, name, text string) []byte {
	t.Helper()
	c := dump.New(managers.All())
	if err := c.Read(name, strings.NewReader(text), nil); err != nil {
		t.Fatal(err)
	}
	cluster, _, err := c.Scenario(dump.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return cluster
}

// wikimedia is that of Wikimedia's dump.
func wikimedia(t *testing.T) []byte {
	t.Helper()
	file := filepath.Join("..", "dump", "testdata", "wikimedia.yaml")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return imported(t, file, string(text))
}

// stagingImported is the plan wikimedia-staging, beginning with that dump.
func stagingImported(t *testing.T) *plan.Plan {
	t.Helper()
	cluster := imported(t, "staging.yaml", stagingDump())
	ready, err := os.ReadFile(plansDir + "/wikimedia-staging.yaml")
	if err != nil {
		t.Fatal(err)
	}
	text, _, _ := strings.Cut(string(ready), "\n---\n")
	const ours = "  ipam: calico\n  datastore: kubernetes\n"
	if !strings.Contains(text, ours) {
		t.Fatalf("no %q", ours)
	}
	p, err := plan.Parse(managers.All(), "staging.yaml", []byte(strings.Replace(text, ours, "  from: cluster.yaml\n", 1)), func(string) ([]byte, error) { return cluster, nil })
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// The staging plan of an import gives the ready plan's answer within its intervals: each option meets
// or misses the goals as if the cluster had been built that way, and the measures are equally likely.
// No pod is cut off during the migration.
func TestStagingOfAnImport(t *testing.T) {
	longtest.Skip(t)
	const repeats = 30
	built := answer.Of(lived(t, ready(t, "wikimedia-staging"), repeats))
	p := stagingImported(t)
	came := lived(t, p, repeats)
	for i := range p.Cells {
		came.Cells[i].Cluster = &p.Cells[i].Cluster
	}
	moved := answer.Of(came)
	if len(built.Rows) != len(moved.Rows) || len(built.Rows) != 11 {
		t.Fatalf("%d rows, and %d", len(built.Rows), len(moved.Rows))
	}
	migrations := 0
	for n := range built.Rows {
		a, b := &built.Rows[n], &moved.Rows[n]
		for i := range a.Bounds {
			if a.Bounds[i].Outcome != b.Bounds[i].Outcome {
				t.Errorf("%s, %s: built so it %s, moved there it %s", a.Name, a.Bounds[i].Measure, a.Bounds[i].Outcome, b.Bounds[i].Outcome)
			}
		}
		for _, name := range []string{"waiting", "unplaced", "starved", "blackholed", "borrowed", "routes"} {
			x, y := a.Figures[name], b.Figures[name]
			if x.Low > y.High || y.Low > x.High {
				t.Errorf("%s, %s: built so %.3f (%.3f to %.3f), moved there %.3f (%.3f to %.3f)", a.Name, name, x.Value, x.Low, x.High, y.Value, y.Low, y.High)
			}
		}
		if m := b.Migration; m != nil {
			migrations++
			if m.Done != repeats || m.Blackholed != 0 || float64(b.SinceHours) > 4 || float64(b.SinceHours) <= float64(m.Hours) {
				t.Errorf("%s: %+v, judged after %v h", b.Name, *m, b.SinceHours)
			}
		}
	}
	if migrations != 7 {
		t.Errorf("%d of the options are migrations", migrations)
	}
	if !slices.Equal(built.Recommended[0].Rows, moved.Recommended[0].Rows) {
		t.Errorf("built so: %s\nmoved there: %s", built.Recommended[0].Text, moved.Recommended[0].Text)
	}
}
