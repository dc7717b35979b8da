package dump_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ipamsim/cmd/managers"
	"ipamsim/model"
	"ipamsim/scenarios/dump"
)

const podCIDRs = `
- {apiVersion: v1, kind: Node, metadata: {name: n1}, spec: {podCIDRs: [10.1.1.0/24]}, status: {addresses: [{type: InternalIP, address: 10.1.9.1}]}}
- {apiVersion: v1, kind: Node, metadata: {name: n2}, spec: {podCIDRs: [10.1.2.0/24]}, status: {addresses: [{type: InternalIP, address: 10.1.9.2}]}}
- {apiVersion: v1, kind: Pod, metadata: {name: home, namespace: d}, spec: {nodeName: n1}, status: {phase: Running, podIP: 10.1.1.9}}
- {apiVersion: v1, kind: Pod, metadata: {name: there, namespace: d}, spec: {nodeName: n2}, status: {phase: Running, podIP: 10.1.2.9}}
`

// attached is a pod on a node with an address of the network d/net.
func attached(name, node, addr string) string {
	return fmt.Sprintf(`- {apiVersion: v1, kind: Pod, metadata: {name: %s, namespace: d, annotations: {k8s.v1.cni.cncf.io/network-status: '[{"name": "d/net", "ips": ["%s"]}]'}}, spec: {nodeName: %s}, status: {phase: Running}}
`, name, addr, node)
}

func network(config string) string {
	return fmt.Sprintf(`- {apiVersion: k8s.cni.cncf.io/v1, kind: NetworkAttachmentDefinition, metadata: {name: net, namespace: d}, spec: {config: '%s'}}
`, config)
}

func balancer(name, addr, ports string) string {
	return fmt.Sprintf("- {apiVersion: v1, kind: Service, metadata: {name: %s, namespace: d}, spec: {type: LoadBalancer, ports: [%s]}, status: {loadBalancer: {ingress: [{ip: %s}]}}}\n", name, ports, addr)
}

// What pods report is compared: each conflict, and what is near to one.
func TestReported(t *testing.T) {
	pod := func(name, spec, status string) string {
		return fmt.Sprintf("- {apiVersion: v1, kind: Pod, metadata: {name: %s, namespace: d}, spec: {%s}, status: {%s}}\n", name, spec, status)
	}
	for _, c := range []struct {
		name, more string
		want       []string
	}{
		{"nothing", "", nil},
		{"two pods with one address", pod("a", "nodeName: n1", "phase: Running, podIP: 10.1.1.9"),
			[]string{"duplicate-address reported-by-two-pods [address 10.1.1.9 pod d/a pod d/home]"}},
		{"of the second family", pod("a", "nodeName: n1", "phase: Running, podIPs: [{ip: 10.1.1.2}, {ip: 'fd00::1'}]") + pod("b", "nodeName: n1", "phase: Running, podIPs: [{ip: 10.1.1.3}, {ip: 'fd00::1'}]"),
			[]string{"duplicate-address reported-by-two-pods [address fd00::1 pod d/a pod d/b]"}},
		{"the address of a node", pod("a", "nodeName: n1", "phase: Running, podIP: 10.1.9.2"),
			[]string{"duplicate-address reported-address-of-node [address 10.1.9.2 node n2 pod d/a]"}},
		{"of another node's podCIDR", pod("a", "nodeName: n1", "phase: Running, podIP: 10.1.2.7"),
			[]string{"out-of-pool in-range-of-another-node [address 10.1.2.7 node n1 pod d/a]"}},
		{"one wire, two pods", network(`{"type": "macvlan", "ipam": {"type": "host-local"}}`) + attached("a", "n1", "10.7.0.1") + attached("b", "n2", "10.7.0.1"),
			[]string{"duplicate-address reported-by-two-pods [address 10.7.0.1 network d/net pod d/a pod d/b]"}},
		{"a wire of each node, one node", network(`{"plugins": [{"type": "bridge", "ipam": {"type": "host-local"}}]}`) + attached("a", "n1", "10.7.0.1") + attached("b", "n1", "10.7.0.1"),
			[]string{"duplicate-address reported-by-two-pods [address 10.7.0.1 network d/net pod d/a pod d/b]"}},
		{"the gateway", network(`{"type": "macvlan", "ipam": {"type": "static", "routes": [{"dst": "0.0.0.0/0", "gw": "10.7.0.1"}]}}`) + attached("a", "n1", "10.7.0.1"),
			[]string{"duplicate-address reported-gateway [address 10.7.0.1 network d/net pod d/a]"}},
		{"two Services with one address and port", balancer("a", "10.8.0.1", "{port: 80}") + balancer("b", "10.8.0.1", "{port: 443}, {port: 80, protocol: TCP}"),
			[]string{"duplicate-load-balancer-ip reported-by-two-services [address 10.8.0.1 service d/a service d/b]"}},

		{"two Services with one address", balancer("a", "10.8.0.1", "{port: 80}") + balancer("b", "10.8.0.1", "{port: 80, protocol: UDP}"), nil},
		{"of the node's network", pod("a", "nodeName: n1, hostNetwork: true", "phase: Running, podIP: 10.1.9.1"), nil},
		{"finished", pod("a", "nodeName: n1", "phase: Succeeded, podIP: 10.1.1.9"), nil},
		{"not bound", pod("a", "", "phase: Pending, podIP: 10.1.1.9"), nil},
		{"a wire of each node", network(`{"type": "bridge", "ipam": {"type": "host-local"}}`) + attached("a", "n1", "10.7.0.1") + attached("b", "n2", "10.7.0.1"), nil},
		{"no definition", attached("a", "n1", "10.7.0.1") + attached("b", "n2", "10.7.0.1"), nil},
		{"podCIDRs are not where addresses come from", pod("a", "nodeName: n1", "phase: Running, podIP: 10.1.2.7") + pod("b", "nodeName: n2", "phase: Running, podIP: 10.1.1.7"), nil},
	} {
		k := dump.New(managers.All())
		if err := k.Read("F", strings.NewReader("apiVersion: v1\nkind: List\nitems:"+podCIDRs+c.more), nil); err != nil {
			t.Fatal(err)
		}
		scenario(t, k, dump.Options{})
		var got []string
		for _, v := range k.Reported() {
			got = append(got, fmt.Sprint(v.Invariant, " ", v.Code, " ", v.Objects))
		}
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%s: -want +got:\n%s", c.name, d)
		}
	}
}

// TestConflictWithoutManager: of a cluster whose addresses no manager here assigns, two pods with
// one address are found, and nothing else is judged; without a conflict the dump is refused.
func TestConflictWithoutManager(t *testing.T) {
	const nodes = `[root@a ~]# kubectl get nodes,pods -A -o yaml
apiVersion: v1
kind: List
items:
- {apiVersion: v1, kind: Node, metadata: {name: a}}
- {apiVersion: v1, kind: Node, metadata: {name: b}}
- {apiVersion: v1, kind: Pod, metadata: {name: one, namespace: d}, spec: {nodeName: a}, status: {phase: Running, podIP: 10.0.0.20}}
`
	const second = "- {apiVersion: v1, kind: Pod, metadata: {name: two, namespace: d}, spec: {nodeName: b}, status: {phase: Running, podIP: 10.0.0.20}}\n"
	path := filepath.Join(t.TempDir(), "dump.txt")
	if err := os.WriteFile(path, []byte(nodes+second), 0o600); err != nil {
		t.Fatal(err)
	}
	f := foundIn(t, path)
	if len(f.All) != 1 || len(f.Supposed) != 0 || f.All[0].Invariant != "duplicate-address" || !f.Unsure(model.Critical) {
		var b bytes.Buffer
		f.Write(&b)
		t.Errorf("want one duplicate address, and that the rest cannot be judged:\n%s", b.String())
	}
	c := dump.New(managers.All())
	if err := c.Read(path, strings.NewReader(nodes+second), nil); err != nil {
		t.Fatal(err)
	}
	_, report, err := c.Scenario(dump.Options{})
	if err != nil || len(report.Managers) != 1 || !report.Managers[0].Bare {
		t.Fatalf("%v: no manager is in the dump, and the report has %+v", err, report.Managers)
	}
	if p := report.Places(f.All[0].Objects); len(p) != 2 || p[0].Line == 0 {
		t.Errorf("evidence: %v, want two pods", p)
	}
	if got := refuses(t, strings.NewReader(nodes)); !strings.Contains(got, "no Node with spec.podCIDR") {
		t.Errorf("without a conflict: %s", got)
	}
}
