package dump_test

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"ipamsim/cmd/managers"
	"ipamsim/model"
	"ipamsim/scenarios"
	"ipamsim/scenarios/dump"
	"ipamsim/scenarios/dump/diagnosis"
	"ipamsim/scenarios/scenariotest"
)

// read reads files of testdata into a cluster.
func read(t *testing.T, files ...string) *dump.Cluster {
	t.Helper()
	c := dump.New(managers.All())
	for _, name := range files {
		f, err := os.Open("testdata/" + name)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if err := c.Read(name, f, nil); err != nil {
			t.Fatal(err)
		}
	}
	return whole(c)
}

// whole says that the lists which a cluster has seen are complete.
func whole(c *dump.Cluster) *dump.Cluster {
	for _, r := range dump.Resources(c.Managers()) {
		if c.Saw(r.Name()) {
			c.Complete(r.APIVersion, r.Kind)
		}
	}
	return c
}

// scenario is the text made of a cluster, and the same loaded.
func scenario(t *testing.T, c *dump.Cluster, o dump.Options) (string, *scenarios.Scenario, *dump.Report) {
	t.Helper()
	text, report, err := c.Scenario(o)
	if err != nil {
		t.Fatal(err)
	}
	s, err := managers.All().Parse("x.yaml", text)
	if err != nil {
		t.Fatalf("%v\n%s", report.Trace(err), text)
	}
	return string(text), s, report
}

func inspect(t *testing.T, s *scenarios.Scenario) *scenarios.View {
	t.Helper()
	r := scenariotest.Runner(t)
	v, err := r.Inspect(context.Background(), s)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// wrong lists what is broken: invariant and address.
func wrong(v *scenarios.View) []string {
	var out []string
	for _, x := range v.Violations {
		what := ""
		for _, o := range x.Objects {
			if o.Kind == model.RefAddress {
				what = " " + o.Name
			}
		}
		out = append(out, x.Invariant+what)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Wikimedia's staging cluster as kubectl would have printed it, T293729: two nodes
// with two blocks each, two new ones that borrow, and one address that a job's pod
// left behind.
func TestWikimedia(t *testing.T) {
	_, s, report := scenario(t, read(t, "wikimedia.yaml"), dump.Options{})
	if report.Nodes != 4 || report.Pods != 87 || report.Claims != 88 || report.Managers[0].Datastore != "kubernetes" {
		t.Errorf("%+v", report)
	}
	v := inspect(t, s)
	want := []string{"blackholed-address 10.64.75.0", "blackholed-address 10.64.75.212", "convergence 10.64.75.114", "leaked-claim 10.64.75.114"}
	if got := wrong(v); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// The cluster of VMware's KB 383841: five addresses, two of them leaked by a lost worker, and two
// pods that wait.
func TestTanzu(t *testing.T) {
	_, s, report := scenario(t, read(t, "tkg.yaml"), dump.Options{})
	if report.Pods != 3 || report.Claims != 5 || !slices.ContainsFunc(report.Unknown, func(s string) bool { return strings.HasPrefix(s, "2 pods have no address yet") }) {
		t.Errorf("%+v", report)
	}
	var want []string
	for _, i := range []string{"convergence", "leaked-claim"} {
		for n := 199; n <= 200; n++ {
			want = append(want, fmt.Sprintf("%s 172.18.178.%d", i, n))
		}
	}
	if got := wrong(inspect(t, s)); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func contains(t *testing.T, what string, all []string, parts ...string) {
	t.Helper()
	for _, p := range parts {
		if !slices.ContainsFunc(all, func(s string) bool { return strings.Contains(s, p) }) {
			t.Errorf("%s: nothing about %q in %q", what, p, all)
		}
	}
}

// kubectl -o json: a pool as both API groups show it, an affinity of a node that is
// gone, a finished pod that holds an address, one that is on its way out, a node's
// tunnel address, and things that have nothing to do with addresses.
func TestCalicoAsJSON(t *testing.T) {
	text, s, report := scenario(t, read(t, "calico.json"), dump.Options{})
	contains(t, "unknown", report.Unknown, "the state of beta", "1 pod has no address yet", "fabric", "the deletion of 1 pod")
	contains(t, "left", report.Left, "1 pod on the host network", "1 finished pod", "1 FelixConfiguration.crd.projectcalico.org")
	for _, secret := range []string{"hunter2", "registry.internal", "PASSWORD", "secret"} {
		if strings.Contains(text, secret) {
			t.Errorf("%s gets through", secret)
		}
	}
	if !strings.Contains(text, "delete:") || !strings.Contains(text, "name: web-1") {
		t.Error("the pod that is on its way out is not deleted")
	}
	want := []string{"convergence 192.168.0.2", "leaked-affinity", "leaked-claim 192.168.0.2"}
	if got := wrong(inspect(t, s)); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// What people without access to Calico's etcd have: three tables in the log of a
// terminal. Blocks, the addresses that are borrowed, and how many others there are.
func TestTablesAlone(t *testing.T) {
	_, s, report := scenario(t, read(t, "show.txt"), dump.Options{})
	contains(t, "unknown", report.Unknown, "4 blocks are derived", "88 addresses are in use with an unknown holder", "2 blocks: their holder", "no pods in the dump", "no nodes in the dump")
	v := inspect(t, s)
	if len(v.Record.Pools) != 4 || len(v.Record.Claims) != 2 {
		t.Errorf("%+v", v.Record)
	}
	f := diagnosis.Of(dump.New(managers.All()), v, true)
	if len(f.Borrowed) != 2 || f.Borrowed[0].Owner != "kubestage1001.eqiad.wmnet" || f.Borrowed[0].Node != "kubestage1003.eqiad.wmnet" {
		t.Errorf("%+v", f.Borrowed)
	}
}

// With the pods, as kubectl has them, the tables say whose the blocks are.
func TestTablesAndPods(t *testing.T) {
	c := read(t, "show.txt")
	for i, node := range []string{"kubestage1001.eqiad.wmnet", "kubestage1002.eqiad.wmnet"} {
		for _, last := range []int{1 + 64*i, 130 + 65*i} {
			err := c.Add(dump.Origin{File: "pods"}, fmt.Appendf(nil, `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p-%d","namespace":"default"},"spec":{"nodeName":%q},"status":{"phase":"Running","podIP":"10.64.75.%d"}}`, last, node, last))
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	_, s, report := scenario(t, c, dump.Options{})
	contains(t, "unknown", report.Unknown, "84 addresses are in use")
	owners := map[string]string{}
	for _, p := range inspect(t, s).Record.Pools {
		owners[p.Range.String()] = p.Node
	}
	for cidr, want := range map[string]string{"10.64.75.64/26": "kubestage1002.eqiad.wmnet", "10.64.75.128/26": "kubestage1001.eqiad.wmnet"} {
		if owners[cidr] != want {
			t.Errorf("%s is %q's, want %s", cidr, owners[cidr], want)
		}
	}
}

// calicoctl datastore migrate export: YAML, and the allocator's own record behind it.
func TestExport(t *testing.T) {
	_, s, report := scenario(t, read(t, "export.txt"), dump.Options{})
	if report.Managers[0].Datastore != "etcdv3" || report.Pods != 2 || report.Nodes != 2 {
		t.Errorf("%+v", report)
	}
	contains(t, "unknown", report.Unknown, "not read at one instant: there are 2 changes", "no pods in the dump")
	v := inspect(t, s)
	if len(v.Record.Claims) != 2 || len(v.Record.Handles) != 2 || len(v.Record.Affinities) != 1 {
		t.Errorf("%+v", v.Record)
	}
}

// Whereabouts beside another manager's networks, with a network_name, two families, an
// older Multus' annotation, in another namespace, and no reservations dumped.
func TestWhereabouts(t *testing.T) {
	_, s, report := scenario(t, read(t, "whereabouts.yaml"), dump.Options{})
	contains(t, "unknown", report.Unknown, "no OverlappingRangeIPReservations")
	contains(t, "left", report.Left, "openshift-multus", "1 pod whose address manager")
	v := inspect(t, s)
	if got, want := wrong(v), []string{"convergence 10.50.0.18", "leaked-claim 10.50.0.18"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if n := len(v.Truth.Sandboxes); n != 1 || len(v.Truth.Sandboxes[0].Attachments[0].Addrs) != 2 || v.Truth.Sandboxes[0].Attachments[0].Interface != "net2" {
		t.Errorf("%+v", v.Truth.Sandboxes)
	}
}

// A CNI plugin that is not simulated is no reason to refuse a cluster: the scenario has it, and
// what is assumed of it is printed by the import and by a run.
func TestUnknownPlugin(t *testing.T) {
	f, err := os.ReadFile("testdata/whereabouts.yaml")
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Replace(string(f), `"type": "macvlan"`, `"type": "sriov"`, 1)
	c := dump.New(managers.All())
	if err := c.Read("sriov.yaml", strings.NewReader(text), nil); err != nil {
		t.Fatal(err)
	}
	_, s, report := scenario(t, c, dump.Options{})
	contains(t, "left", report.Left, "how CNI plugin sriov uses addresses: assumed to work like macvlan")
	contains(t, "doubts", s.Doubts(), "CNI plugin sriov is not simulated")
}

// With etcd: pools by calicoctl get, and the report of calicoctl ipam check, from which
// blocks and their owners follow.
func TestReportOfCheck(t *testing.T) {
	c := read(t, "check.txt")
	_, s, report := scenario(t, c, dump.Options{})
	contains(t, "unknown", report.Unknown, "2 blocks are derived", "no pods in the dump")
	v := inspect(t, s)
	if len(v.Record.Claims) != 4 || len(v.Record.Pools) != 2 || len(v.Record.Handles) != 5 {
		t.Errorf("%+v", v.Record)
	}
	f := prove(t, c, s)
	if len(f.Borrowed) != 1 || f.Borrowed[0].Owner != "n1" || f.Borrowed[0].Node != "n2" {
		t.Errorf("%+v", f.Borrowed)
	}
	if len(f.All) != 1 || f.All[0].Invariant != "leftover-handle" || !strings.Contains(strings.Join(f.Commands(), ""), "--from-report=report.json") {
		t.Errorf("%+v", f.All)
	}
}

// A kind that was listed and is empty is not derived from others.
func TestListedAndEmpty(t *testing.T) {
	c := read(t, "check.txt")
	c.Complete("crd.projectcalico.org/v1", "BlockAffinity")
	c.Listed("5000")
	_, s, report := scenario(t, c, dump.Options{})
	contains(t, "unknown", report.Unknown, "not read at one instant: there are 289 changes")
	if got := inspect(t, s).Record.Affinities; len(got) != 0 {
		t.Errorf("%+v", got)
	}
}

// With WorkloadEndpoints, a leak can be detected without the pods: b has an address and none.
func TestEndpoints(t *testing.T) {
	c := read(t, "check.txt")
	text := "$ calicoctl get workloadendpoints --all-namespaces -o yaml\napiVersion: projectcalico.org/v3\nitems:\n"
	for _, p := range []struct{ pod, node, id, addr string }{{"a", "n1", "f1", "10.9.0.1"}, {"c", "n2", "f3", "10.9.0.5"}} {
		text += fmt.Sprintf("- apiVersion: projectcalico.org/v3\n  kind: WorkloadEndpoint\n  metadata: {name: %s-k8s-%s-eth0, namespace: default}\n"+
			"  spec: {containerID: %s, endpoint: eth0, ipNetworks: [%s/32], node: %s, orchestrator: k8s, pod: %s}\n", p.node, p.pod, p.id, p.addr, p.node, p.pod)
	}
	if err := c.Read("endpoints", strings.NewReader(text+"kind: WorkloadEndpointList\n"), nil); err != nil {
		t.Fatal(err)
	}
	pool := `{"apiVersion":"whereabouts.cni.cncf.io/v1alpha1","kind":"IPPool","metadata":{"name":"10.50.0.0-24","namespace":"kube-system"},"spec":{"range":"10.50.0.0/24","allocations":{"1":{"id":"f1","podref":"default/a","ifname":"net1"}}}}`
	if err := c.Add(dump.Origin{File: "pool"}, []byte(pool)); err != nil {
		t.Fatal(err)
	}
	_, s, report := scenario(t, c, dump.Options{})
	if report.Pods != 2 {
		t.Errorf("%d pods", report.Pods)
	}
	if got, want := wrong(inspect(t, s)), []string{"convergence 10.9.0.2", "leaked-claim 10.9.0.2", "leftover-handle"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
