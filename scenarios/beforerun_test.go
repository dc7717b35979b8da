package scenarios_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"ipamsim/model"
	"ipamsim/scenarios"
)

// staging is a small existing Calico cluster: two nodes with a block of eight addresses each. web-0
// runs on its block's node; web-1 runs on node-b with an address of node-a's block, to which node-a
// drops packets; a third address is claimed for a container that does not exist.
const staging = `
apiVersion: ipamsim.dev/v1alpha1
kind: Scenario
metadata: {name: staging}
spec:
  ipam: calico
  datastore: %s
  until: 2m
  fabric: {topology: tor}
  timeline: %s
---
apiVersion: crd.projectcalico.org/v1
kind: IPPool
metadata: {name: staging}
spec: {cidr: 10.64.75.0/28, blockSize: 29, ipipMode: Never, vxlanMode: Never, nodeSelector: all()}
---
apiVersion: crd.projectcalico.org/v1
kind: IPAMBlock
metadata: {name: 10-64-75-0-29}
spec:
  cidr: 10.64.75.0/29
  affinity: host:node-a
  allocations: [0, 1, 2, null, null, null, null, null]
  unallocated: [3, 4, 5, 6, 7]
  attributes:
  - {handle_id: k8s-pod-network.c0, secondary: {namespace: default, node: node-a, pod: web-0, timestamp: "2025-11-01"}}
  - {handle_id: k8s-pod-network.c1, secondary: {namespace: default, node: node-b, pod: web-1, timestamp: "2025-11-01"}}
  - {handle_id: k8s-pod-network.c2, secondary: {namespace: default, node: node-a, pod: gone-0, timestamp: "2025-11-01"}}
  deleted: false
  strictAffinity: false
---
apiVersion: crd.projectcalico.org/v1
kind: IPAMBlock
metadata: {name: 10-64-75-8-29}
spec:
  cidr: 10.64.75.8/29
  affinity: host:node-b
  allocations: [null, null, null, null, null, null, null, null]
  unallocated: [0, 1, 2, 3, 4, 5, 6, 7]
  attributes: []
  deleted: false
  strictAffinity: false
---
apiVersion: crd.projectcalico.org/v1
kind: BlockAffinity
metadata: {name: node-a-10-64-75-0-29}
spec: {cidr: 10.64.75.0/29, deleted: "false", node: node-a, state: confirmed}
---
apiVersion: crd.projectcalico.org/v1
kind: BlockAffinity
metadata: {name: node-b-10-64-75-8-29}
spec: {cidr: 10.64.75.8/29, deleted: "false", node: node-b, state: confirmed}
---
apiVersion: crd.projectcalico.org/v1
kind: IPAMHandle
metadata: {name: k8s-pod-network.c0}
spec: {block: {10.64.75.0/29: 1}, handleID: k8s-pod-network.c0}
---
apiVersion: crd.projectcalico.org/v1
kind: IPAMHandle
metadata: {name: k8s-pod-network.c1}
spec: {block: {10.64.75.0/29: 1}, handleID: k8s-pod-network.c1}
---
apiVersion: crd.projectcalico.org/v1
kind: IPAMHandle
metadata: {name: k8s-pod-network.c2}
spec: {block: {10.64.75.0/29: 1}, handleID: k8s-pod-network.c2}
---
apiVersion: v1
kind: Node
metadata: {name: node-a, annotations: {projectcalico.org/IPv4Address: 10.0.0.11/24}}
status: {conditions: [{type: Ready, status: "True"}]}
---
apiVersion: v1
kind: Node
metadata: {name: node-b, annotations: {projectcalico.org/IPv4Address: 10.0.0.12/24}}
status: {conditions: [{type: Ready, status: "True"}]}
---
apiVersion: v1
kind: Pod
metadata: {name: web-0, namespace: default, annotations: {cni.projectcalico.org/containerID: c0, cni.projectcalico.org/podIP: 10.64.75.0/32, cni.projectcalico.org/podIPs: 10.64.75.0/32}}
spec: {nodeName: node-a, terminationGracePeriodSeconds: 1, containers: [{name: main, image: registry.example/web:1}]}
status: {phase: Running, podIP: 10.64.75.0, podIPs: [{ip: 10.64.75.0}], conditions: [{type: Ready, status: "True"}]}
---
apiVersion: v1
kind: Pod
metadata: {name: web-1, namespace: default, annotations: {ipamsim.dev/containerID: c1}}
spec: {nodeName: node-b, terminationGracePeriodSeconds: 1, containers: [{name: main, image: registry.example/web:1}]}
status: {phase: Running, podIP: 10.64.75.1, podIPs: [{ip: 10.64.75.1}], conditions: [{type: Ready, status: "True"}]}
`

// What is wrong with a cluster is seen before its first step: the leak, and the
// address that node-a cannot reach.
func TestLook(t *testing.T) {
	r := runner(t)
	for _, datastore := range []string{"kubernetes", "etcdv3"} {
		s := parse(t, fmt.Sprintf(staging, datastore, "[]"))
		v, err := r.Inspect(context.Background(), s)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := sandboxes(v.Truth), "default/web-0 c0 10.64.75.0, default/web-1 c1 10.64.75.1"; got != want {
			t.Errorf("%s: %s, want %s", datastore, got, want)
		}
		if got, want := claims(v.Record), "10.64.75.0 c0, 10.64.75.1 c1, 10.64.75.2 c2"; got != want {
			t.Errorf("%s: %s, want %s", datastore, got, want)
		}
		want := "blackholed-address: address 10.64.75.1, node node-a, pod default/web-1; " +
			"convergence: address 10.64.75.2, block 10.64.75.0/29, container c2, pod default/gone-0; " +
			"leaked-claim: address 10.64.75.2, block 10.64.75.0/29, container c2, pod default/gone-0"
		if got := verdicts(v); got != want {
			t.Errorf("%s:\n%s\nwant\n%s", datastore, got, want)
		}
	}
}

// A pod that was there is a pod like any other: its deletion stops its containers and
// runs a DEL, which releases its address and nothing else.
func TestAdopted(t *testing.T) {
	r := runner(t)
	for _, datastore := range []string{"kubernetes", "etcdv3"} {
		s := parse(t, fmt.Sprintf(staging, datastore, "[{at: 0s, delete: {resource: pods, all: true}}]"))
		rep := run(t, r, s, scenarios.Options{Recording: true})
		var events []string
		for _, e := range rep.History.Events {
			switch e.Kind {
			case model.SandboxUp, model.SandboxDown, model.AddBegin, model.DelEnd:
				events = append(events, fmt.Sprintf("%s %s %s%s", e.Kind, e.Pod, e.Text, e.Err))
			}
		}
		slices.Sort(events)
		want := strings.Repeat("del-end default/web-0 , ", 3) + strings.Repeat("del-end default/web-1 , ", 3) + // removal calls it twice more
			"sandbox-down default/web-0 containers stopped, sandbox-down default/web-1 containers stopped, " +
			"sandbox-up default/web-0 found running, sandbox-up default/web-1 found running"
		if got := strings.Join(events, ", "); got != want {
			t.Errorf("%s:\n%s\nwant\n%s", datastore, got, want)
		}
	}
}

// twice is a pod that is attached to one network twice. Its status has an entry for
// each, which need not name the interface that it is of.
const twice = `
apiVersion: ipamsim.dev/v1alpha1
kind: Scenario
metadata: {name: twice}
spec: {ipam: whereabouts, until: 2m}
---
apiVersion: k8s.cni.cncf.io/v1
kind: NetworkAttachmentDefinition
metadata: {name: net1}
spec:
  config: '{"cniVersion": "0.3.1", "name": "net1", "type": "macvlan", "ipam": {"type": "whereabouts", "range": "10.0.0.0/29", "enable_overlapping_ranges": false}}'
---
apiVersion: whereabouts.cni.cncf.io/v1alpha1
kind: IPPool
metadata: {name: 10.0.0.0-29, namespace: kube-system}
spec:
  range: 10.0.0.0/29
  allocations:
    "1": {id: c0, podref: default/two, ifname: net1}
    "2": {id: c0, podref: default/two, ifname: net2}
---
apiVersion: v1
kind: Node
metadata: {name: node-a}
status: {conditions: [{type: Ready, status: "True"}]}
---
apiVersion: v1
kind: Pod
metadata:
  name: two
  namespace: default
  annotations:
    k8s.v1.cni.cncf.io/networks: net1, net1
    k8s.v1.cni.cncf.io/network-status: '[{"name": "default/net1", "ips": ["10.0.0.1"]}, {"name": "default/net1", "ips": ["%s"]}]'
spec: {nodeName: node-a, containers: [{name: main, image: registry.example/web:1}]}
status: {phase: Running}
`

func TestLookAttachedTwice(t *testing.T) {
	r := runner(t)
	for second, want := range map[string]string{
		"10.0.0.2": "",
		"10.0.0.1": "convergence convergence duplicate-address leaked-claim unbacked-sandbox", // 10.0.0.2 has no holder
	} {
		v, err := r.Inspect(context.Background(), parse(t, fmt.Sprintf(twice, second)))
		if err != nil {
			t.Fatal(err)
		}
		var red []string
		for _, x := range v.Violations {
			red = append(red, x.Invariant)
		}
		if got := strings.Join(red, " "); got != want {
			t.Errorf("its second interface has %s: %q, want %q: %s", second, got, want, verdicts(v))
		}
	}
}

func sandboxes(tr model.Truth) string {
	var out []string
	for _, s := range tr.Sandboxes {
		text := s.Pod.String() + " " + s.ID
		for _, a := range s.Attachments {
			for _, addr := range a.Addrs {
				text += " " + addr.String()
			}
		}
		out = append(out, text)
	}
	return strings.Join(out, ", ")
}

func claims(s model.Snapshot) string {
	var out []string
	for _, c := range s.Claims {
		out = append(out, c.Addr.String()+" "+c.Container)
	}
	return strings.Join(out, ", ")
}

func objects(v model.Violation) string {
	var out []string
	for _, o := range v.Objects {
		out = append(out, o.String())
	}
	return strings.Join(out, ", ")
}

func verdicts(v *scenarios.View) string {
	var out []string
	for _, x := range v.Violations {
		out = append(out, x.Invariant+": "+objects(x))
	}
	return strings.Join(out, "; ")
}
