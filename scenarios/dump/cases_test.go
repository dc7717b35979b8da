package dump_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ipamsim/cmd/managers"
	"ipamsim/model"
	"ipamsim/model/invariant"
	"ipamsim/reports/imported"
	"ipamsim/scenarios/dump"
	"ipamsim/scenarios/dump/bundle"
	"ipamsim/scenarios/dump/decode"
	"ipamsim/scenarios/scenariotest"
)

// TestPasteForms: the files of testdata/forms/27-paste-forms are one leak in seven forms.
func TestPasteForms(t *testing.T) {
	r := scenariotest.Runner(t)
	files, err := filepath.Glob("testdata/forms/27-paste-forms/[0-9]*")
	if err != nil || len(files) != 7 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		c := dump.New(managers.All())
		if err := (&bundle.Reader{Cluster: c}).Read([]string{file}); err != nil {
			t.Error(err)
			continue
		}
		is := importAll(r, c, "leak")
		if slices.ContainsFunc([]string{"01-plain", "05-fenced", "27-typed-lists"}, func(s string) bool { return strings.Contains(file, s) }) {
			if wrong := is.unsure("radio/du-2", "10.10.0.6"); is.err != nil || wrong != "" { // no command, no heading
				t.Errorf("%s: %v, %s", file, is.err, wrong)
			}
			continue
		}
		if is.err != nil || len(is.findings.All) != 1 || !strings.Contains(is.findings.All[0].Message, "10.10.0.6 stays claimed") {
			t.Errorf("%s: %v, %s", file, is.err, is.printed)
		}
		if !strings.Contains(file, "30-forbidden") {
			continue
		}
		var why []decode.Reason
		for _, a := range c.Messages {
			why = append(why, a.Why)
		}
		if !slices.Equal(why, []decode.Reason{decode.Forbidden, decode.NoSuchType}) || c.Messages[1].Resource != "ippools.crd.projectcalico.org" || c.Saw("ipamconfigs.crd.projectcalico.org") {
			t.Errorf("%+v", c.Messages)
		}
	}
}

// TestMasked: an address that is blacked out has one advice, wherever it stands.
func TestMasked(t *testing.T) {
	for file, want := range map[string]string{
		"node-masked.yaml": ":3: Node w1: metadata.annotations[projectcalico.org/IPv4Address]: the address 10.xx.xx.4 is blacked out",
		"pool.yaml":        ":1: IPPool kube-system/172.xx.xx.192-27: metadata.name: the address 172.xx.xx.192 is blacked out",
	} {
		file = "testdata/forms/20-masked/" + file
		err := (&bundle.Reader{Cluster: dump.New(managers.All())}).Read([]string{file})
		if err == nil || !strings.HasPrefix(err.Error(), file+want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// TestCheckReport: a report of calicoctl ipam check says who has which address; its text,
// which blocks overlap.
func TestCheckReport(t *testing.T) {
	r := scenariotest.Runner(t)
	const dir = "testdata/forms/28-check-report/"
	all := map[string]int{invariant.DuplicateAddress.Name: 1, invariant.OverlappingBlocks.Name: 2, invariant.LeakedClaim.Name: 1, invariant.LeftoverHandle.Name: 40}
	for _, x := range []struct {
		files []string
		want  map[string]int
	}{
		{[]string{"report.json"}, all},
		{[]string{"ipam-check.txt"}, map[string]int{invariant.OverlappingBlocks.Name: 2}},
		{[]string{"nodes.yaml", "pods.yaml", "pools.yaml", "report.json"}, all},
		{[]string{"nodes.yaml", "pods.yaml", "pools.yaml", "ipam-check.txt", "report.json"}, all},
	} {
		c := dump.New(managers.All())
		var files []string
		for _, f := range x.files {
			files = append(files, dir+f)
		}
		if err := (&bundle.Reader{Cluster: c}).Read(files); err != nil {
			t.Error(err)
			continue
		}
		is := importAll(r, c, "check")
		for i := range is.findings.All {
			for _, p := range is.report.Places(is.findings.All[i].Objects) {
				if p.File == "" {
					t.Errorf("%v: %s was read nowhere", x.files, p.Object)
				}
			}
		}
		if is.err != nil {
			t.Error(is.err)
			continue
		}
		got := map[string]int{}
		for _, f := range is.findings.All {
			got[f.Invariant]++
		}
		for name, n := range x.want {
			if got[name] != n {
				t.Errorf("%v: %d %s, want %d", x.files, got[name], name, n)
			}
			delete(got, name)
		}
		if len(got) > 0 {
			t.Errorf("%v: %v", x.files, got)
		}
	}
}

// A dump of Calico with host-local that does not have the cluster's range is judged by Calico's pools,
// which have to lie in it: healthy if each node has a podCIDR, and a pool contains it.
func TestRangeOfHostLocal(t *testing.T) {
	all, err := os.ReadFile("testdata/truth/calico-host-local/dump.yaml")
	if err != nil {
		t.Fatal(err)
	}
	unknown := strings.NewReplacer(`podSubnet: 10.2.0.0/16\n  `, "").Replace(string(all))
	for _, x := range []struct {
		name, old, new string
		verdict        imported.Verdict
		doubts         []string
	}{
		{"each node has one", "", "", imported.Healthy, nil},
		{"a pool elsewhere", "cidr: 10.2.0.0/16", "cidr: 10.2.0.0/24", imported.Undecided, []string{"out-of-pool"}},
		{"a node without one", "  spec:\n    podCIDR: 10.2.0.0/24\n    podCIDRs:\n    - 10.2.0.0/24\n", "  spec: {}\n", imported.Undecided, []string{"unassigned-node"}},
	} {
		a := readText(t, strings.Replace(unknown, x.old, x.new, 1))
		var doubts []string
		for _, u := range a.findings.Unjudged {
			doubts = append(doubts, u.What...)
		}
		if got := a.findings.Verdict(model.Minor); got != x.verdict || !slices.Equal(doubts, x.doubts) {
			t.Errorf("%s: %s, cannot judge %q; want %s, %q\n%s", x.name, got, doubts, x.verdict, x.doubts, a.printed)
		}
		if said := strings.Contains(a.printed, "assumed to contain the pools of the pods' network"); said != (x.doubts == nil) {
			t.Errorf("%s: the assumption is reported: %t\n%s", x.name, said, a.printed)
		}
	}
}

// Where no remedy can be simulated, the decision that is named is about what is exhausted.
func TestDecisions(t *testing.T) {
	r := scenariotest.Runner(t)
	const overlap = "to decide: which range each network has: those of ran/oam-small (10.50.1.0/24, no network_name) and ran/oam-wide (10.50.0.0/16, no network_name) overlap"
	const clusterRange, pool, files, name = "to decide: a larger --cluster-cidr", "to decide: more addresses for the pool", "to decide: what to do with reservations of deleted pods", "to decide: the network's network_name"
	for dir, want := range map[string]string{"cluster-cidr-full": clusterRange, "metallb-pools": pool, "k3s-hostlocal": files, "slices-without-name": name, "whereabouts-0-7-overlap": overlap} {
		is := importDump(t, r, dir, truthOf(t, dir).Files)
		if is.err != nil {
			t.Fatal(dir, is.err)
		}
		for _, decision := range []string{clusterRange, pool, files, name, overlap} {
			if has := strings.Contains(is.printed, decision); has != (decision == want) {
				t.Errorf("%s: %q is %t:\n%s", dir, decision, has, is.printed)
			}
		}
	}
}
