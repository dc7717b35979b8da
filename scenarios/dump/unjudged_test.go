package dump_test

import (
	"bytes"
	"cmp"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ipamsim/cmd/managers"
	"ipamsim/model"
	"ipamsim/reports/imported"
	"ipamsim/scenarios"
	"ipamsim/scenarios/dump"
	"ipamsim/scenarios/dump/collect"
	"ipamsim/scenarios/dump/diagnosis"
)

// Every resource that is read is collected by the command that is printed, which a shell
// runs as it is: of a cluster that has none of these objects the importer then knows
// that there are none. What kubectl refuses stays unknown.
func TestCollectCommand(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("no shell")
	}
	dir := t.TempDir()
	kubectl := `#!/bin/sh
echo "$2" >> asked
[ "$2" = blockaffinities.crd.projectcalico.org ] && { echo 'Error from server (Forbidden)' >&2; exit 1; }
[ "$2" = ippools.crd.projectcalico.org ] && { printf 'apiVersion: v1\nitems:\n- apiVersion: crd.projectcalico.org/v1\n  kind: IPPool\n  metadata:\n    name: p\n  spec:\n    cidr: 10.0.0.0/24\nkind: List\nmetadata:\n  resourceVersion: ""\n'; exit; }
printf 'apiVersion: v1\nitems: []\nkind: List\nmetadata:\n  resourceVersion: ""\n'
`
	if err := os.WriteFile(filepath.Join(dir, "kubectl"), []byte(kubectl), 0o700); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(sh, "-c", collect.Command(managers.All(), "dump.yaml"))
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	asked, err := os.ReadFile(filepath.Join(dir, "asked"))
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range dump.Resources(managers.All()) {
		same := func(o dump.Resource) bool { return o.Kind == r.Kind && o.By == dump.Kubectl }
		lines, want := slices.DeleteFunc(strings.Split(string(asked), "\n"), func(s string) bool { return s != r.Name() }), 1
		if r.Only != "" { // several objects by their names
			want = 3
		}
		switch n := len(lines); {
		case r.By == dump.Kubectl && n != want:
			t.Errorf("%s is asked for %d times", r.Name(), n)
		case r.By == dump.Second && r.Kind != "IPAMConfiguration" && !slices.ContainsFunc(dump.Resources(managers.All()), same):
			t.Errorf("%s has no first form", r.Name())
		}
	}
	if last := "jobs.batch\npods\n"; !strings.HasSuffix(string(asked), last) {
		t.Errorf("pods are not the last: %s", asked)
	}
	text, err := os.ReadFile(filepath.Join(dir, "dump.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	c := dump.New(managers.All())
	if err := c.Read("dump.yaml", bytes.NewReader(text), nil); err != nil {
		t.Fatal(err)
	}
	c.Complete("v1", "Node") // every cluster has some
	if err := c.Add(dump.Origin{}, []byte(`{"apiVersion":"v1","kind":"Node","metadata":{"name":"n"}}`)); err != nil {
		t.Fatal(err)
	}
	_, _, report := scenario(t, c, dump.Options{})
	if len(report.Unjudged) != 1 || !slices.Equal(report.Unjudged[0].Without, []string{"blockaffinities.crd.projectcalico.org"}) {
		t.Errorf("%v", report.Unjudged)
	}
}

// A dump that lacks something is not healthy: what cannot be judged is reported with the command
// that collects it, and there is no verdict.
func TestUnjudged(t *testing.T) {
	for _, x := range []struct {
		name  string
		leave string // a kind that the dump does not have
		what  string
	}{
		{"no pods", "Pod", "leaked-claim"},
		{"no nodes", "Node", "leaked-affinity"},
		{"no BGP objects", "BGPConfiguration", "blackholed-address"},
		{"no peers", "BGPPeer", "blackholed-address"},
		{"no blocks", "IPAMBlock", "unbacked-sandbox"},
		{"no affinities", "BlockAffinity", "leaked-affinity"},
		{"no handles", "IPAMHandle", "leftover-handle"},
		{"no owners", "owner", scenarios.Recreation},
	} {
		t.Run(x.name, func(t *testing.T) {
			c := dump.New(managers.All())
			var with string
			for _, r := range dump.Resources(managers.All()) {
				if r.By == dump.Kubectl && (x.leave == r.Kind || x.leave == "owner" && strings.Contains("DaemonSet Deployment StatefulSet Job", r.Kind)) {
					with = cmp.Or(with, r.Name()) // of two groups, Calico's
				} else if r.By == dump.Kubectl {
					c.Complete(r.APIVersion, r.Kind)
				}
			}
			for _, o := range []string{
				`{"apiVersion":"crd.projectcalico.org/v1","kind":"IPPool","metadata":{"name":"p"},"spec":{"cidr":"10.0.0.0/24","blockSize":30}}`,
				`{"apiVersion":"crd.projectcalico.org/v1","kind":"IPAMBlock","metadata":{"name":"10-0-0-0-30"},"spec":{"cidr":"10.0.0.0/30","affinity":"host:n","allocations":[0,null,null,null],"unallocated":[1,2,3],"attributes":[{"handle_id":"k8s-pod-network.c1","secondary":{"namespace":"default","node":"n","pod":"a"}}]}}`,
				`{"apiVersion":"crd.projectcalico.org/v1","kind":"BlockAffinity","metadata":{"name":"n-10-0-0-0-30"},"spec":{"cidr":"10.0.0.0/30","node":"n","state":"confirmed","deleted":"false"}}`,
				`{"apiVersion":"crd.projectcalico.org/v1","kind":"IPAMHandle","metadata":{"name":"k8s-pod-network.c1"},"spec":{"handleID":"k8s-pod-network.c1","block":{"10.0.0.0/30":1}}}`,
				`{"apiVersion":"v1","kind":"Node","metadata":{"name":"n","annotations":{"projectcalico.org/IPv4Address":"192.168.7.2/24"}},"status":{"conditions":[{"type":"Ready","status":"True"}]}}`,
				`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","namespace":"default","annotations":{"cni.projectcalico.org/containerID":"c1","cni.projectcalico.org/podIP":"10.0.0.0/32"}},"spec":{"nodeName":"n"},"status":{"phase":"Running","podIP":"10.0.0.0"}}`,
			} {
				if strings.Contains(o, `"kind":"`+x.leave+`"`) {
					continue
				}
				if err := c.Add(dump.Origin{File: "x"}, []byte(o)); err != nil {
					t.Fatal(err)
				}
			}
			_, s, report := scenario(t, c, dump.Options{})
			f := diagnosis.Of(c, inspect(t, s), true)
			var printed bytes.Buffer
			f.Write(&printed)
			i := slices.IndexFunc(report.Unjudged, func(u scenarios.Unjudged) bool {
				return slices.Contains(u.What, x.what) && slices.Contains(u.Without, with)
			})
			if i < 0 || len(f.All) > 0 || f.Verdict(model.Minor) != imported.Undecided {
				t.Errorf("%v, wrong: %v, verdict %v", report.Unjudged, f.All, f.Verdict(model.Minor))
			}
			if strings.Contains(printed.String(), "no findings\n") || !strings.Contains(printed.String(), "cannot judge ") || !strings.Contains(printed.String(), "kubectl get ") {
				t.Errorf("printed: %s", printed.String())
			}
			if got, want := f.Verdict(model.Critical), map[bool]imported.Verdict{true: imported.Undecided, false: imported.Healthy}[critical(report.Unjudged)]; got != want {
				t.Errorf("asked for what is critical: %v, want %v", got, want)
			}
		})
	}
}

func critical(all []scenarios.Unjudged) bool {
	return slices.ContainsFunc(all, func(u scenarios.Unjudged) bool {
		return slices.Contains(u.What, "blackholed-address") || slices.Contains(u.What, "duplicate-address")
	})
}

// Pods of one namespace are not those of all: what is claimed elsewhere is not called
// leaked, unless the list says that it is whole.
func TestPodsOfOneNamespace(t *testing.T) {
	for _, whole := range []bool{false, true} {
		c := dump.New(managers.All())
		for _, r := range dump.Resources(managers.All()) {
			if r.By == dump.Kubectl && (whole || r.Kind != "Pod" && r.Kind != "Namespace") {
				c.Complete(r.APIVersion, r.Kind)
			}
		}
		s := &small{t, c}
		s.add(`{"apiVersion":"crd.projectcalico.org/v1","kind":"IPPool","metadata":{"name":"p"},"spec":{"cidr":"10.0.0.0/24","blockSize":29}}`)
		s.add(`{"apiVersion":"v1","kind":"Node","metadata":{"name":"a","annotations":{"projectcalico.org/IPv4Address":"192.168.7.2/24"}}}`)
		s.block("10.0.0.0/29", "a", "x")
		s.add(`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"host","namespace":"shop"},"spec":{"nodeName":"a","hostNetwork":true},"status":{"phase":"Running"}}`)
		_, sc, report := scenario(t, c, dump.Options{})
		leaked := slices.Contains(wrong(inspect(t, sc)), "leaked-claim 10.0.0.0")
		partly := slices.ContainsFunc(report.Unjudged, func(u scenarios.Unjudged) bool { return slices.Equal(u.Namespaces, []string{"default"}) })
		if leaked != whole || partly == whole {
			t.Errorf("all pods listed: %v, leaked: %v, %v", whole, leaked, report.Unjudged)
		}
	}
}

// Pods with addresses of Calico's, and nothing of them in its record: host-local gives
// them out, or the record is lost. Neither is healthy, and nothing is called wrong.
func TestEmptyRecord(t *testing.T) {
	s := newSmall(t)
	s.pod("x", "a", "10.0.0.1", "10.0.0.1/32", controlledBy("StatefulSet", "x"), "")
	_, sc, report := scenario(t, s.c, dump.Options{})
	f := diagnosis.Of(s.c, inspect(t, sc), true)
	if len(f.All) > 0 || f.Verdict(model.Critical) != imported.Undecided || len(report.Unjudged) != 1 {
		t.Errorf("%+v %v", f.All, report.Unjudged)
	}
}
