package scenarios_test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ipamsim/cmd/managers"
	"ipamsim/scenarios"
	"ipamsim/sim/cluster"
	"ipamsim/sim/cluster/cron"
)

// good loads one of testdata/good.
func good(t *testing.T, name string) *scenarios.Scenario {
	t.Helper()
	return own(t, filepath.Join("testdata", "good", name+".yaml"))
}

// object is one object of a scenario.
func object(t *testing.T, s *scenarios.Scenario, kind, name string) cluster.Object {
	t.Helper()
	for _, o := range s.Objects {
		if o.Kind == kind && o.Name == name {
			return o
		}
	}
	t.Fatalf("no %s %s", kind, name)
	return cluster.Object{}
}

// The manifests of seeds/003 load as they are pasted.
func TestLoadSeed003(t *testing.T) {
	s := good(t, "seed-003")
	var got []string
	for _, o := range s.Objects {
		got = append(got, o.Kind+" "+o.Namespace+"/"+o.Name)
	}
	want := []string{
		"Node /worker-1", "Node /worker-2", "Service default/nginx", "StatefulSet default/web",
		"NetworkAttachmentDefinition default/whereabouts-conf", "NetworkAttachmentDefinition default/whereabouts-conf2",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if len(s.Networks) != 2 || s.Networks[1].Key != "default/whereabouts-conf2" {
		t.Errorf("networks %v", s.Networks)
	}
}

// Those of seeds/002 load once an address stands where it is blacked out.
func TestLoadSeed002(t *testing.T) {
	s := good(t, "seed-002")
	if len(s.Networks) != 1 {
		t.Fatalf("networks %v", s.Networks)
	}
	r := s.Networks[0].Ranges[0]
	if got := r.Start.String() + " " + r.End.String() + " " + r.Prefix.String(); got != "172.18.178.196 172.18.178.200 172.18.178.192/27" {
		t.Errorf("range %s", got)
	}
	if pool := object(t, s, "IPPool", "172.18.178.192-27"); pool.Namespace != "kube-system" {
		t.Errorf("pool in %s", pool.Namespace)
	}
}

// kubectl get -o yaml | ipamsim: a List is unpacked, and what only the server may
// set is left out.
func TestLoadKubectlGet(t *testing.T) {
	s := good(t, "kubectl-get")
	pool := object(t, s, "IPPool", "10.128.40.0-24")
	want := `{"apiVersion":"whereabouts.cni.cncf.io/v1alpha1","kind":"IPPool","metadata":{"name":"10.128.40.0-24","namespace":"kube-system"},` +
		`"spec":{"range":"10.128.40.0/24","allocations":{"45":{"id":"0b403a8e43c6","podref":"default/web-0","ifname":"net1"}}}}`
	if string(pool.Body) != want {
		t.Errorf("got  %s\nwant %s", pool.Body, want)
	}
	node := object(t, s, "Node", "worker-1")
	for _, gone := range []string{"uid", "resourceVersion", "creationTimestamp", "null"} {
		if strings.Contains(string(node.Body), gone) {
			t.Errorf("%s is still in %s", gone, node.Body)
		}
	}
}

// The CronJob that ran the reconciler becomes an entry of spec.reconcilers;
// another one is stored.
func TestLoadCronJob(t *testing.T) {
	s := good(t, "cronjob")
	want := []scenarios.Reconciler{{Name: "ip-reconciler", Schedule: "*/5 * * * *", Overlap: cron.Forbid}}
	if d := cmp.Diff(want, s.Doc.Spec.Reconcilers); d != "" {
		t.Error(d)
	}
	object(t, s, "CronJob", "backup")
	for _, o := range s.Objects {
		if o.Name == "ip-reconciler" {
			t.Error("the CronJob is stored as well")
		}
	}
}

// The Scenario document is YAML 1.2; a manifest means what it means to kubectl.
func TestLoadDialects(t *testing.T) {
	s := good(t, "dialects")
	if s.Doc.Spec.Title != "on" || s.Doc.Spec.Nodes[1] != "yes" {
		t.Errorf("title %q, nodes %q", s.Doc.Spec.Title, s.Doc.Spec.Nodes)
	}
	body := string(object(t, s, "Pod", "web").Body)
	for _, want := range []string{
		`"defaultMode":420`, `"hostNetwork":false`, `"containerPort":80`, `"labels":{"app":"web","live":"yes"}`,
		`"annotations":{"app":"other","k8s.v1.cni.cncf.io/networks":"[{\"name\": \"net1\", \"interface\": \"data0\"}]","live":"yes"}`,
	} {
		if !strings.Contains(body, want) {
			t.Errorf("no %s in %s", want, body)
		}
	}
}

// Entries are put into order by time; those of one time stay as written.
func TestTimelineIsSorted(t *testing.T) {
	var got []string
	for _, e := range good(t, "dialects").Doc.Spec.Timeline {
		got = append(got, e.At.Duration.String()+" "+e.Kind())
	}
	if d := cmp.Diff([]string{"10s crash", "50s powerOn", "50s crash"}, got); d != "" {
		t.Error(d)
	}
}

// TestPrintLaw: what is printed loads to the same, and prints the same.
func TestPrintLaw(t *testing.T) {
	files, err := filepath.Glob("testdata/good/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range append(library(t), files...) {
		s := own(t, file)
		text, err := s.YAML()
		if err != nil {
			t.Errorf("%s: %v", file, err)
			continue
		}
		again, err := managers.All().Parse(file, text)
		if err != nil {
			t.Errorf("%s, printed: %v\n%s", file, err, text)
			continue
		}
		if !equal(s, again) {
			t.Errorf("%s changes when printed: %s", file, cmp.Diff(s.Doc, again.Doc))
		}
		twice, err := again.YAML()
		if err != nil || string(twice) != string(text) {
			t.Errorf("%s: printed twice it differs, %v: %s", file, err, cmp.Diff(string(text), string(twice)))
		}
	}
}

// A printed scenario is meant to be read: goldens would say the same twice.
func TestPrintIsReadable(t *testing.T) {
	text, err := good(t, "everything").YAML()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"kind: Scenario\nmetadata:\n  name: everything\nspec:\n  title: every field\n  story: |\n    Two lines,\n      the second further in.\n  import:\n    unknown:\n      - no nodes in the dump\n",
		"      - invariant: duplicate-address\n        objects:\n          - \"address fd00::1\"\n  ipam: canary\n",
		"\n---\napiVersion: k8s.cni.cncf.io/v1\nkind: NetworkAttachmentDefinition\n",
		"\n    picks: \"0*12 3 0*7 1\"\n",
	} {
		if !strings.Contains(string(text), want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if strings.Contains(string(text), "name: worker-1\n---") {
		t.Error("the Node objects of spec.nodes are printed as manifests")
	}
}

// A file near every bound still loads quickly: the IPPool of a /16, all taken.
func TestLoadLarge(t *testing.T) {
	var b strings.Builder
	seed, err := os.ReadFile("testdata/good/seed-003.yaml")
	if err != nil {
		t.Fatal(err)
	}
	b.Write(seed)
	b.WriteString("---\napiVersion: whereabouts.cni.cncf.io/v1alpha1\nkind: IPPool\nmetadata: {name: 10.0.0.0-16, namespace: kube-system}\nspec:\n  range: 10.0.0.0/16\n  allocations:\n")
	for i := range 1 << 16 {
		b.WriteString("    \"" + strconv.Itoa(i) + "\":\n      id: 0b403a8e43c6183225aefb128dc18753\n      podref: default/web-" + strconv.Itoa(i) + "\n      ifname: net1\n")
	}
	start := time.Now()
	s, err := managers.All().Parse("large.yaml", []byte(b.String()))
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d bytes in %v", b.Len(), time.Since(start))
	if n := len(object(t, s, "IPPool", "10.0.0.0-16").Body); n < 1<<22 {
		t.Errorf("body of %d bytes", n)
	}
}
