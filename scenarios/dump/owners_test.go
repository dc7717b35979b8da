package dump_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"ipamsim/cmd/managers"
	"ipamsim/model"
	"ipamsim/scenarios"
	"ipamsim/scenarios/dump"
	"ipamsim/scenarios/scenariotest"
	"ipamsim/sim/cluster"
	"ipamsim/sim/cluster/action"
)

// small is a Calico cluster with complete lists: a pool and two nodes.
type small struct {
	t *testing.T
	c *dump.Cluster
}

func newSmall(t *testing.T) *small {
	s := &small{t, dump.New(managers.All())}
	for _, r := range dump.Resources(managers.All()) {
		if r.By == dump.Kubectl && r.Group() != "whereabouts.cni.cncf.io" && r.Group() != "k8s.cni.cncf.io" {
			s.c.Complete(r.APIVersion, r.Kind)
		}
	}
	s.add(`{"apiVersion":"crd.projectcalico.org/v1","kind":"IPPool","metadata":{"name":"p"},"spec":{"cidr":"10.0.0.0/24","blockSize":29,"nodeSelector":"all()"}}`)
	s.add(`{"apiVersion":"crd.projectcalico.org/v1","kind":"ClusterInformation","metadata":{"name":"default"},"spec":{"calicoVersion":"v3.31.0"}}`)
	for i, n := range []string{"a", "b"} {
		s.add(fmt.Sprintf(`{"apiVersion":"v1","kind":"Node","metadata":{"name":%q,"labels":{"kubernetes.io/os":"linux"},"annotations":{"projectcalico.org/IPv4Address":"192.168.7.%d/24"}},"status":{"conditions":[{"type":"Ready","status":"True"}]}}`, n, 2+i))
	}
	return s
}

func (s *small) add(raw string) {
	s.t.Helper()
	if err := s.c.Add(dump.Origin{File: "small"}, []byte(raw)); err != nil {
		s.t.Fatal(err)
	}
}

// block gives a node one with these pods in it, by address from the block's first.
func (s *small) block(cidr, node string, pods ...string) {
	s.t.Helper()
	slots, free, attributes := make([]string, 8), []string{}, []string{}
	for i := range slots {
		slots[i] = "null"
		if i >= len(pods) || pods[i] == "" {
			free = append(free, fmt.Sprint(i))
			continue
		}
		slots[i] = fmt.Sprint(len(attributes))
		id := "k8s-pod-network.c-" + pods[i]
		attributes = append(attributes, fmt.Sprintf(`{"handle_id":%q,"secondary":{"namespace":"default","node":%q,"pod":%q}}`, id, node, pods[i]))
		s.add(fmt.Sprintf(`{"apiVersion":"crd.projectcalico.org/v1","kind":"IPAMHandle","metadata":{"name":%q},"spec":{"handleID":%q,"block":{%q:1}}}`, id, id, cidr))
	}
	name := strings.NewReplacer(".", "-", "/", "-").Replace(cidr)
	s.add(fmt.Sprintf(`{"apiVersion":"crd.projectcalico.org/v1","kind":"IPAMBlock","metadata":{"name":%q},"spec":{"cidr":%q,"affinity":"host:%s","allocations":[%s],"unallocated":[%s],"attributes":[%s]}}`,
		name, cidr, node, strings.Join(slots, ","), strings.Join(free, ","), strings.Join(attributes, ",")))
	s.add(fmt.Sprintf(`{"apiVersion":"crd.projectcalico.org/v1","kind":"BlockAffinity","metadata":{"name":"%s-%s"},"spec":{"cidr":%q,"node":%q,"state":"confirmed","deleted":"false"}}`, node, name, cidr, node))
}

// pod adds one that runs, with more in metadata and spec: each begins with a comma or
// is "". said is Calico's annotation; "-": it has none.
func (s *small) pod(name, node, ip, said, metadata, spec string) {
	s.t.Helper()
	notes := ""
	if said != "-" {
		notes = fmt.Sprintf(`,"annotations":{"cni.projectcalico.org/containerID":"c-%s","cni.projectcalico.org/podIP":%q,"cni.projectcalico.org/podIPs":%q}`, name, said, said)
	}
	s.add(fmt.Sprintf(`{"apiVersion":"v1","kind":"Pod","metadata":{"name":%q,"namespace":"default"%s%s},"spec":{"nodeName":%q%s},"status":{"phase":"Running","podIP":%q}}`,
		name, notes, metadata, node, spec, ip))
}

func controlledBy(kind, name string) string {
	return fmt.Sprintf(`,"labels":{"app":"x","pod-template-hash":"5d9"},"ownerReferences":[{"kind":%q,"name":%q,"controller":true}]`, kind, name)
}

// Who makes pods again is kept, with what says where they may run, so that a drain in
// the scenario moves them and leaves those alone that it would.
func TestOwners(t *testing.T) {
	s := newSmall(t)
	s.block("10.0.0.0/29", "a", "web-5d9-1", "web-5d9-2", "db-0", "agent-1", "bare")
	s.block("10.0.0.8/29", "b", "agent-2")
	s.pod("web-5d9-1", "a", "10.0.0.0", "10.0.0.0/32", controlledBy("ReplicaSet", "web-5d9"), `,"nodeSelector":{"kubernetes.io/os":"linux"},"tolerations":[{"key":"rack","operator":"Exists"},{"key":"node.kubernetes.io/not-ready","operator":"Exists","effect":"NoExecute","tolerationSeconds":300}]`)
	s.pod("web-5d9-2", "a", "10.0.0.1", "10.0.0.1/32", controlledBy("ReplicaSet", "web-5d9"), "")
	s.pod("db-0", "a", "10.0.0.2", "10.0.0.2/32", controlledBy("StatefulSet", "db"), "")
	s.pod("agent-1", "a", "10.0.0.3", "10.0.0.3/32", controlledBy("DaemonSet", "agent"), "")
	s.pod("agent-2", "b", "10.0.0.8", "10.0.0.8/32", controlledBy("DaemonSet", "agent"), "")
	s.pod("bare", "a", "10.0.0.4", "10.0.0.4/32", "", "")
	text, sc, report := scenario(t, s.c, dump.Options{})
	if len(report.Unjudged) > 0 {
		t.Errorf("%v", report.Unjudged)
	}
	if got := wrong(inspect(t, sc)); len(got) > 0 {
		t.Errorf("%v", got)
	}
	for _, want := range []string{
		"kind: Deployment\nmetadata: {\"name\":\"web\",", `"replicas":2`, "kind: StatefulSet\nmetadata: {\"name\":\"db\"", "kind: DaemonSet\nmetadata: {\"name\":\"agent\"",
		`"nodeSelector":{"kubernetes.io/os":"linux"},"tolerations":[{"key":"rack","operator":"Exists"}]`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("nothing of %q", want)
		}
	}
	sc.Doc.Spec.Timeline = []scenarios.Event{{At: metav1.Duration{Duration: time.Second}, Action: &action.Drain{Node: "a"}}}
	var got []string
	r := scenariotest.Runner(t)
	if _, err := r.Run(t.Context(), sc, scenarios.Options{End: func(c *cluster.Cluster) {
		v, err := c.Checker.Snapshot()
		if err != nil {
			t.Error(err)
			return
		}
		for _, x := range v.Truth.Sandboxes {
			name := x.Pod.Name
			if x.ID != "c-"+name && strings.HasPrefix(name, "web-") {
				name = "web-again"
			}
			got = append(got, x.Node+" "+name)
		}
	}}); err != nil {
		t.Fatal(err)
	}
	slices.Sort(got)
	if want := []string{"a agent-1", "b agent-2", "b db-0", "b web-again", "b web-again"}; !slices.Equal(got, want) {
		t.Errorf("after a drain of a: %v, want %v", got, want)
	}
}

// What keeps pods off nodes is kept.
func TestTaints(t *testing.T) {
	s := newSmall(t)
	s.add(`{"apiVersion":"v1","kind":"Node","metadata":{"name":"c"},"spec":{"unschedulable":true,"taints":[{"key":"node.kubernetes.io/unschedulable","effect":"NoSchedule"},{"key":"os","value":"windows","effect":"NoSchedule"}]}}`)
	text, _, _ := scenario(t, s.c, dump.Options{})
	if want := `spec: {"taints":[{"key":"os","value":"windows","effect":"NoSchedule"}],"unschedulable":true}`; !strings.Contains(text, want) {
		t.Errorf("nothing of %s in\n%s", want, text)
	}
}

// A pod on its way out whose annotation Calico has emptied has no address any more; the
// address may be another pod's by now.
func TestTorn(t *testing.T) {
	s := newSmall(t)
	s.block("10.0.0.0/29", "a", "next", "leaving")
	s.pod("next", "a", "10.0.0.0", "10.0.0.0/32", "", "")
	s.pod("gone", "a", "10.0.0.0", "", `,"deletionTimestamp":"2026-01-01T00:00:00Z"`, "")
	s.pod("leaving", "a", "10.0.0.1", "", `,"deletionTimestamp":"2026-01-01T00:00:00Z"`, "") // still claimed: in the middle of its DEL
	_, sc, report := scenario(t, s.c, dump.Options{})
	contains(t, "left", report.Left, "1 deleted pod whose network is already removed")
	v := inspect(t, sc)
	if got := wrong(v); len(got) > 0 {
		t.Errorf("%v", got)
	}
	if len(v.Truth.Sandboxes) != 2 {
		t.Errorf("%+v", v.Truth.Sandboxes)
	}
}

// What another CNI plugin gave a pod is not Calico's: on a Windows node, and elsewhere
// outside of every pool.
func TestOfAnotherPlugin(t *testing.T) {
	s := newSmall(t)
	s.block("10.0.0.0/29", "a", "linux")
	s.add(`{"apiVersion":"v1","kind":"Node","metadata":{"name":"win","labels":{"kubernetes.io/os":"windows"}},"status":{"conditions":[{"type":"Ready","status":"True"}]}}`)
	s.pod("linux", "a", "10.0.0.0", "10.0.0.0/32", "", "")
	s.pod("iis", "win", "10.0.0.77", "-", "", "")
	s.pod("vpc", "b", "172.31.4.5", "-", "", "")
	_, sc, report := scenario(t, s.c, dump.Options{})
	contains(t, "left", report.Left, "1 Windows node without Calico", "1 pod on Windows nodes without Calico", "1 pod whose address manager")
	v := inspect(t, sc)
	if got := wrong(v); len(got) > 0 || len(v.Truth.Sandboxes) != 1 || len(v.Truth.Nodes) != 2 {
		t.Errorf("%v %+v", got, v.Truth)
	}
}

// A tunnel's address in the table of borrowed ones is the node's own, and no pod's.
func TestBorrowedTunnel(t *testing.T) {
	c := read(t, "show.txt")
	row := `+------------+---------------------------+---------------+---------------------------+-------------------+--------------+
|     IP     |      BORROWING-NODE       |     BLOCK     |        BLOCK OWNER        |       TYPE        | ALLOCATED-TO |
+------------+---------------------------+---------------+---------------------------+-------------------+--------------+
| 10.64.75.9 | kubestage1003.eqiad.wmnet | 10.64.75.0/26 | kubestage1001.eqiad.wmnet | ipipTunnelAddress |              |
+------------+---------------------------+---------------+---------------------------+-------------------+--------------+
`
	if err := c.Read("more", strings.NewReader(row), nil); err != nil {
		t.Fatal(err)
	}
	_, sc, _ := scenario(t, c, dump.Options{})
	v := inspect(t, sc)
	i := slices.IndexFunc(v.Record.Claims, func(cl model.Claim) bool { return cl.Addr.String() == "10.64.75.9" })
	if i < 0 || !v.Record.Claims[i].Tunnel || v.Record.Claims[i].Node != "kubestage1003.eqiad.wmnet" || v.Record.Claims[i].Handle != "ipip-tunnel-addr-kubestage1003.eqiad.wmnet" {
		t.Errorf("%+v", v.Record.Claims)
	}
	if got := wrong(v); slices.Contains(got, "leaked-claim 10.64.75.9") {
		t.Errorf("%v", got)
	}
}
