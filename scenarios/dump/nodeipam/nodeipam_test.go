package nodeipam_test

import (
	"fmt"
	"strings"
	"testing"

	"ipamsim/cmd/managers"
	"ipamsim/scenarios/dump"
)

const nodes = `apiVersion: v1
kind: List
items:
- {apiVersion: v1, kind: Node, metadata: {name: n1}, spec: {podCIDR: 10.0.0.0/24, podCIDRs: [10.0.0.0/24]}}
- {apiVersion: v1, kind: Node, metadata: {name: n2}, spec: {}}
---
`

const configured = `apiVersion: v1
kind: ConfigMap
metadata: {name: kubeadm-config, namespace: kube-system}
data: {ClusterConfiguration: "networking: {podSubnet: 10.0.0.0/16}"}
---
`

// static is the pod of kube-controller-manager on a node, as the kubelet shows it.
func static(node, labels string, flags ...string) string {
	return fmt.Sprintf("apiVersion: v1\nkind: Pod\nmetadata:\n  name: kube-controller-manager-%s\n  namespace: kube-system\n  labels: {%s}\nspec:\n  containers:\n  - command: [kube-controller-manager, %s]\n    name: c\n  nodeName: %s\nstatus: {phase: Running}\n---\n", node, labels, strings.Join(flags, ", "), node)
}

// What runs counts, and not what kubeadm configured; where two run with other flags, neither does.
func TestStaticPods(t *testing.T) {
	const component, run = "component: kube-controller-manager", "--allocate-node-cidrs=true"
	for name, tt := range map[string]struct {
		text           string
		cidr, reported string // what the scenario and the report have to contain
		nodes          int
	}{
		"kubeadm alone":       {configured, `podSubnet: 10.0.0.0/16`, "", 2},
		"a pod":               {static("n1", component, run, "--cluster-cidr=10.0.0.0/22"), "value: 10.0.0.0/22", "", 2},
		"both":                {configured + static("n1", component, run, "--cluster-cidr", "10.0.0.0/22"), "value: 10.0.0.0/22", "of kubeadm-config 10.0.0.0/16: kube-controller-manager runs with --cluster-cidr=10.0.0.0/22", 2},
		"the same":            {configured + static("n1", component, run, "--cluster-cidr=10.0.0.0/16"), "value: 10.0.0.0/16", "", 2},
		"two pods":            {configured + static("n1", component, run, "--cluster-cidr=10.0.0.0/22") + static("n2", component, run, "--cluster-cidr=10.0.0.0/21"), "", "its pods have different ones", 1},
		"it does not allot":   {configured + static("n1", component, "--cluster-cidr=10.0.0.0/22"), "", "nodes without a podCIDR, n2", 1},
		"somebody else's pod": {configured + static("n1", "app: x", run, "--cluster-cidr=10.0.0.0/22"), `podSubnet: 10.0.0.0/16`, "", 2},
		"switched off":        {configured + static("n1", component, run, "--cluster-cidr=10.0.0.0/22", "'--controllers=*,-nodeipam'"), "", "nodes without a podCIDR, n2", 1},
		"not switched off":    {static("n1", component, run, "--cluster-cidr=10.0.0.0/22", "'--controllers=*,bootstrapsigner'"), "value: 10.0.0.0/22", "", 2},
	} {
		c := dump.New(managers.All())
		if err := c.Read("F", strings.NewReader(nodes+tt.text), nil); err != nil {
			t.Fatal(err)
		}
		text, report, err := c.Scenario(dump.Options{})
		if err != nil {
			t.Fatal(err)
		}
		said := strings.Join(append(report.Unknown, report.Left...), "\n")
		if !strings.Contains(strings.ReplaceAll(string(text), `\n`, "\n"), tt.cidr) || !strings.Contains(said, tt.reported) || tt.reported == "" && strings.Contains(said, "kubeadm-config") || report.Nodes != tt.nodes {
			t.Errorf("%s: %d nodes, said %q\n%s", name, report.Nodes, said, text)
		}
	}
}
