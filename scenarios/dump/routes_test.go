package dump_test

import (
	"archive/tar"
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ipamsim/cmd/managers"
	"ipamsim/model"
	"ipamsim/scenarios/dump"
	"ipamsim/scenarios/dump/bundle"
	"ipamsim/scenarios/dump/diagnosis"
	"ipamsim/scenarios/scenariotest"
)

// routesOf is what ip route prints on kubestage1001 of Wikimedia's cluster, with a route to an
// address that kubestage1003 has of a block of kubestage1001.
func routesOf(route string) string {
	return "default via 10.64.0.1 dev eno1 onlink\n10.64.0.0/22 dev eno1 proto kernel scope link src 10.64.0.247\n" + route + "10.64.75.64/26 via 10.64.0.1 dev eno1 proto bird\n"
}

const dropping = "blackhole 10.64.75.0/26 proto bird\n"

// TestRoutes: routes of a node make what is predicted of it observed, or refute it, and are no
// evidence of another node.
func TestRoutes(t *testing.T) {
	const node = "kubestage1001.eqiad.wmnet"
	type want struct{ says, refuted, supposed int }
	const rules = "[root@kubestage1001 ~]# ip rule\n0:\tfrom all lookup local\n%s32766:\tfrom all lookup main\n"
	prompted := func(host, text string) string {
		return "[root@" + host + " ~]# ip route\n" + text + "[root@" + host + " ~]# \n"
	}
	for name, x := range map[string]struct {
		file, text, message string
		want
	}{
		"dropped":         {"x.txt", prompted("kubestage1001", routesOf(dropping)), `observed: ` + node, want{1, 0, 0}},
		"a way":           {"x.txt", prompted("kubestage1001", routesOf(dropping+"10.64.75.0 via 10.64.16.55 dev eno1 proto bird\n")), "predicted (the dump has no routes)", want{1, 1, 0}},
		"another way":     {"x.txt", prompted("kubestage1001", routesOf("")), node + " has another route", want{0, 0, 1}},
		"not whole":       {"x.txt", strings.TrimSuffix(prompted("kubestage1001", routesOf("")), "[root@kubestage1001 ~]# \n"), "predicted (the dump has no routes)", want{2, 0, 0}},
		"of another node": {"x.txt", prompted("kubestage1004", routesOf("")), "predicted (the dump has no routes)", want{2, 0, 0}},
		"of no node":      {"x.txt", prompted("jumphost", routesOf("")), "predicted (the dump has no routes)", want{2, 0, 0}},
		"by the rules":    {"x.txt", fmt.Sprintf(rules, "") + prompted("kubestage1001", routesOf(dropping)), `observed: ` + node, want{1, 0, 0}},
		"a rule that a mark selects": {
			"x.txt", fmt.Sprintf(rules, "99:\tfrom all fwmark 0x1 lookup 99\n") + strings.Replace(prompted("kubestage1001", routesOf(dropping)+"default via 10.64.0.9 dev eno2 table 99\n"), "ip route", "ip route show table all", 1),
			"predicted, but " + node + " has a rule that may decide otherwise", want{0, 0, 1},
		},
		"a table that is not shown": {"x.txt", fmt.Sprintf(rules, "220:\tfrom all lookup 220\n") + prompted("kubestage1001", routesOf(dropping)), "; the dump does not have the routes of table 220)", want{0, 0, 1}},
		"named by a folder":         {node + "/ip-route.txt", routesOf(dropping), "observed: ", want{1, 0, 0}},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), x.file)
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(x.text), 0o600); err != nil {
				t.Fatal(err)
			}
			f := foundIn(t, "testdata/wikimedia.yaml", path)
			got := want{0, len(f.Refuted), 0}
			for _, all := range [][]diagnosis.Finding{f.All, f.Supposed} {
				for i := range all {
					v := &all[i]
					if v.Invariant != "blackholed-address" || !strings.Contains(v.Message, x.message) {
						continue
					}
					if i < len(f.All) && &f.All[i] == v {
						got.says++
					} else {
						got.supposed++
					}
				}
			}
			if got != x.want {
				var b bytes.Buffer
				f.Write(&b)
				t.Errorf("got %+v, want %+v of %q\n%s", got, x.want, x.message, b.String())
			}
			if x.supposed > 0 && (!f.Unsure(model.Critical) || len(f.Unjudged[len(f.Unjudged)-1].Pools) != 1) {
				t.Error("where the packets end is not in the dump, and nothing says so")
			}
		})
	}
}

// TestRoutesInBundles: the same in a sosreport beside the dump, as an archive.
func TestRoutesInBundles(t *testing.T) {
	objects, err := os.ReadFile("testdata/wikimedia.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"sosreport-kubestage1001-2026-11-30-abc/sos_commands/networking/ip_route_show_table_all", "kubestage1001-2026-11-30/networking/iproute", "diagnostics/nodes/kubestage1001.eqiad.wmnet/ip-route.txt"} {
		var b bytes.Buffer
		w := tar.NewWriter(&b)
		for name, text := range map[string]string{"all.yaml": string(objects), dir: routesOf(dropping)} {
			_ = w.WriteHeader(&tar.Header{Name: name, Size: int64(len(text)), Mode: 0o600, Typeflag: tar.TypeReg})
			_, _ = w.Write([]byte(text))
		}
		_ = w.Close()
		path := filepath.Join(t.TempDir(), "bundle.tar")
		if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		f := foundIn(t, path)
		var out bytes.Buffer
		f.Write(&out)
		if want := "(the routes of kubestage1001.eqiad.wmnet, " + path + "/" + dir + `:3: "blackhole 10.64.75.0/26 proto bird")`; !strings.Contains(out.String(), want) {
			t.Errorf("%s: no %q in\n%s", dir, want, out.String())
		}
	}
}

// TestOwnAddresses: a pod with the address of a node's tunnel, which no object says.
func TestOwnAddresses(t *testing.T) {
	dir := t.TempDir()
	const objects = "$ kubectl get pods,nodes,namespaces -A -o yaml\napiVersion: v1\nkind: List\nitems:\n" +
		"- {apiVersion: v1, kind: Node, metadata: {name: w1}, spec: {podCIDRs: [10.0.1.0/24]}}\n- {apiVersion: v1, kind: Node, metadata: {name: w2}, spec: {podCIDRs: [10.0.2.0/24]}}\n" +
		"- {apiVersion: v1, kind: Pod, metadata: {name: web, namespace: shop}, spec: {nodeName: w2}, status: {phase: Running, podIP: 10.0.2.1, podIPs: [{ip: 10.0.2.1}]}}\n"
	const addrs = "root@w2:~# ip addr\n9: flannel.1: <UP> mtu 1450\n    inet 10.0.2.1/32 scope global flannel.1\nroot@w2:~# \n"
	for text, want := range map[string]int{objects + addrs: 1, objects: 0, objects + strings.ReplaceAll(addrs, "w2", "w9"): 0} {
		path := filepath.Join(dir, "x.txt")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		got := 0
		for _, v := range foundIn(t, path).All {
			if v.Code == "reported-address-of-node" && model.Named(v.Objects, model.RefNode) == "w2" {
				got++
			}
		}
		if got != want {
			t.Errorf("%d findings, want %d", got, want)
		}
	}
}

// foundIn is what is wrong in a dump.
func foundIn(t *testing.T, files ...string) *diagnosis.Findings {
	t.Helper()
	c := dump.New(managers.All())
	if err := (&bundle.Reader{Cluster: c}).Read(files); err != nil {
		t.Fatal(err)
	}
	is, _, _ := judged(scenariotest.Runner(t), c, "")
	if is.err != nil {
		t.Fatal(is.err)
	}
	return is.findings
}

// TestUnpredictedBlackHole checks a node that drops packets to a pod without a reason in the dump.
// That is a finding without a simulation: the simulated node does not drop them.
func TestUnpredictedBlackHole(t *testing.T) {
	const prompt = "root@kubestage1002:~# "
	routes := func(block string) string {
		return prompt + "ip route\ndefault via 10.64.16.1 dev eno1 onlink\n10.64.16.0/22 dev eno1 proto kernel scope link src 10.64.16.55\n" + block + prompt + "\n"
	}
	for name, x := range map[string]struct {
		routes string
		want   int
	}{
		"dropped":  {routes("blackhole 10.64.75.128/26 proto bird\n"), 4},
		"one":      {routes("unreachable 10.64.75.130 proto static\n"), 1},
		"sent":     {routes("10.64.75.128/26 via 10.64.0.247 dev eno1 proto bird\n"), 0},
		"default":  {routes(""), 0},
		"rules":    {routes("blackhole 10.64.75.128/26 table 100 proto bird\n"), 0},
		"by rules": {prompt + "ip rule\n0:\tfrom all lookup local\n100:\tfrom all to 10.64.75.130 prohibit\n32766:\tfrom all lookup main\n" + routes(""), 1},
		"cut":      {prompt + "ip route\nblackhole 10.64.75.128/26 proto bird\n", 0},
		"no route": {prompt + "ip route\n10.64.75.0/25 via 10.64.0.247 dev eno1\n10.64.75.192/26 via 10.64.0.247 dev eno1\n" + prompt + "\n", 4},
	} {
		path := filepath.Join(t.TempDir(), "x.txt")
		if err := os.WriteFile(path, []byte(x.routes), 0o600); err != nil {
			t.Fatal(err)
		}
		f := foundIn(t, "testdata/wikimedia.yaml", path)
		var b bytes.Buffer
		f.Style.All = true
		f.Write(&b)
		got := 0
		for i := range f.All {
			if v := &f.All[i]; v.Invariant == "blackholed-address" && strings.HasPrefix(v.Message, "observed: kubestage1002.eqiad.wmnet cannot reach 10.64.75.") && v.Problem == 0 {
				got++
			}
		}
		if got != x.want || x.want > 0 && strings.Count(b.String(), "to decide: why the node has no route to the pod") != 1 {
			t.Errorf("%s: %d, want %d in\n%s", name, got, x.want, b.String())
		}
	}
}
