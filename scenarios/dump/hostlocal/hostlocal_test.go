package hostlocal_test

import (
	"archive/tar"
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ipamsim/cmd/managers"
	"ipamsim/reports/imported"
	"ipamsim/scenarios/dump"
	"ipamsim/scenarios/dump/bundle"
	"ipamsim/scenarios/dump/diagnosis"
	"ipamsim/scenarios/dump/dumptest"
	"ipamsim/scenarios/scenariotest"
)

func list(resource string, all ...string) string {
	return fmt.Sprintf("--- # %s\napiVersion: v1\nkind: List\nitems:\n%s--- # %d %s\n", resource, strings.Join(all, ""), len(all), resource)
}

func node(name, cidr string) string {
	return fmt.Sprintf("- {apiVersion: v1, kind: Node, metadata: {name: %s}, spec: {podCIDR: %s, podCIDRs: [%s]}, status: {conditions: [{type: Ready, status: 'True'}]}}\n", name, cidr, cidr)
}

func pod(name, node, phase, ip string) string {
	return fmt.Sprintf("- {apiVersion: v1, kind: Pod, metadata: {name: %s, namespace: d}, spec: {nodeName: %s}, status: {phase: %s, podIP: '%s'}}\n", name, node, phase, ip)
}

// dumped is a cluster of two nodes with a pod on each.
func dumped(more ...string) string {
	pods := append([]string{pod("a", "n1", "Running", "10.0.1.2"), pod("b", "n2", "Running", "10.0.2.2")}, more...)
	return list("nodes", node("n1", "10.0.1.0/29"), node("n2", "10.0.2.0/29")) + list("pods", pods...)
}

// found is what import finds of host-local in some files, and its verdict.
func found(t *testing.T, read func(*dump.Cluster) error) (out []string, unknown []string) {
	t.Helper()
	c := dump.New(managers.All())
	if err := read(c); err != nil {
		t.Fatal(err)
	}
	text, report, err := c.Scenario(dump.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s, err := managers.All().Parse("S", text)
	if err != nil {
		t.Fatal(err)
	}
	v, err := scenariotest.Runner(t).Inspect(context.Background(), s)
	if err != nil {
		t.Fatal(err)
	}
	f := diagnosis.Of(c, v, true)
	for kind, all := range map[string][]diagnosis.Finding{"": f.All, "perhaps ": f.Supposed} {
		for _, x := range all {
			var objects []string
			for _, o := range x.Objects {
				objects = append(objects, o.String())
			}
			if x.Invariant == "leaked-claim" || x.Invariant == imported.Exhausted {
				out = append(out, kind+x.Invariant+" "+strings.Join(objects, ", "))
			}
		}
	}
	slices.Sort(out)
	return out, report.Unknown
}

func texts(all ...string) func(*dump.Cluster) error {
	return func(c *dump.Cluster) error {
		for i := 0; i < len(all); i += 2 {
			if err := c.Read(all[i], strings.NewReader(all[i+1]), nil); err != nil {
				return err
			}
		}
		return nil
	}
}

const long = `total 16
-rw-r--r-- 1 root root  70 Nov 21 03:11 10.0.1.2
-rw-r--r-- 1 root root  70 Nov 21 03:12 10.0.1.4
-rw-r--r-- 1 root root   8 Nov 21 03:12 last_reserved_ip.0
-rwxr-x--- 1 root root   0 Nov 21 03:12 lock
`

// One leak in the forms in which people show it.
func TestForms(t *testing.T) {
	leak := "leaked-claim address 10.0.1.4, network cbr0, node n1"
	for name, tt := range map[string]struct{ file, text, want string }{
		"ls -l":                     {"ls.txt", "root@n1:~# ls -l /var/lib/cni/networks/cbr0\n" + long, leak},
		"ls -la, no prompt":         {"ls.txt", "/var/lib/cni/networks/cbr0:\ntotal 20\ndrwxr-xr-x 2 root root 4096 Nov 21 03:12 .\ndrwxr-xr-x 3 root root 4096 Nov 21 03:12 ..\n" + long, leak},
		"ls -R":                     {"ls.txt", "$ ls -R /var/lib/cni/networks\n/var/lib/cni/networks:\ncbr0\n\n/var/lib/cni/networks/cbr0:\n10.0.1.2\n10.0.1.4\nlast_reserved_ip.0\nlock\n", leak},
		"ls in columns":             {"ls.txt", "[core@n1 ~]$ sudo ls /var/lib/cni/networks/cbr0/\n10.0.1.2  10.0.1.4  last_reserved_ip.0  lock\n", leak},
		"find":                      {"ls.txt", "# find /host/var/lib/cni/networks -type f\n/host/var/lib/cni/networks/cbr0/10.0.1.2\n/host/var/lib/cni/networks/cbr0/10.0.1.4\n/host/var/lib/cni/networks/cbr0/lock\n", leak},
		"ssh":                       {"ls.txt", "me@laptop:~$ ssh core@n1 ls -l /var/lib/cni/networks/cbr0\n" + long, leak},
		"grep":                      {"ls.txt", "root@n1:~# grep . /var/lib/cni/networks/cbr0/10.*\n/var/lib/cni/networks/cbr0/10.0.1.2:aaaaaaaaaaaa\n/var/lib/cni/networks/cbr0/10.0.1.2:eth0\n/var/lib/cni/networks/cbr0/10.0.1.4:bbbbbbbbbbbb\n", "leaked-claim address 10.0.1.4, container bbbbbbbbbbbb, network cbr0, node n1"},
		"another command follows":   {"ls.txt", "root@n1:~# ls /var/lib/cni/networks/cbr0\n10.0.1.2\n10.0.1.4\nroot@n1:~# cat addresses\n10.0.1.5\n", leak},
		"of a node that is not one": {"ls.txt", "root@x:~# ls /var/lib/cni/networks/cbr0\n192.0.2.9\n", ""},
		"a log":                     {"ls.txt", "root@n1:~# dmesg\nE1121 failed to remove /var/lib/cni/networks/cbr0/10.0.1.5: no such file\n", ""},
		"by its path":               {"sosreport-n2-2026/sos_commands/ls_networks", "/var/lib/cni/networks/lan:\n192.168.7.4\n", "leaked-claim address 192.168.7.4, network lan, node n2"},
		"attached":                  {"ls.txt", "root@n2:~# ls /var/lib/cni/networks/lan\n192.168.7.4\n", "leaked-claim address 192.168.7.4, network lan, node n2"},
	} {
		t.Run(name, func(t *testing.T) {
			got, unknown := found(t, texts("dump.yaml", dumped(), tt.file, tt.text))
			if strings.Join(got, "\n") != tt.want {
				t.Errorf("%q, want %q; unknown: %q", got, tt.want, unknown)
			}
			if found := strings.Contains(strings.Join(unknown, "\n"), "the node of the listing"); found != (name == "of a node that is not one") {
				t.Errorf("the unknown node is reported: %v", found)
			}
		})
	}
}

// A support bundle has the files themselves.
func TestBundle(t *testing.T) {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for name, text := range map[string]string{
		"x/dump.yaml": dumped(), "x/nodes/n1/var/lib/cni/networks/cbr0/10.0.1.2": "aaaaaaaaaaaa\r\neth0", "x/nodes/n1/var/lib/cni/networks/cbr0/10.0.1.4": "bbbbbbbbbbbb\r\neth0",
		"x/nodes/n1/var/lib/cni/networks/cbr0/last_reserved_ip.0": "10.0.1.4", "x/nodes/n1/var/log/syslog": "10.0.1.5\n",
	} {
		_ = w.WriteHeader(&tar.Header{Name: name, Size: int64(len(text)), Mode: 0o600, Typeflag: tar.TypeReg})
		_, _ = w.Write([]byte(text))
	}
	_ = w.Close()
	got, _ := found(t, func(c *dump.Cluster) error { return (&bundle.Reader{Cluster: c, Stdin: &b}).Read([]string{"-"}) })
	if d := cmp.Diff([]string{"leaked-claim address 10.0.1.4, container bbbbbbbbbbbb, network cbr0, node n1"}, got); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
}

// No address of a pod that may be there is called leaked: pods must be complete, and none of the
// node may wait for its address.
func TestEvidence(t *testing.T) {
	ls := "root@n1:~# ls -l /var/lib/cni/networks/cbr0\n" + long
	part := strings.NewReplacer("--- # 2 pods\n", "", "--- # pods\n", "---\n").Replace(dumped())
	for name, tt := range map[string]struct {
		dump string
		want []string
	}{
		"a part of the pods":    {part, []string{"perhaps leaked-claim address 10.0.1.4, network cbr0, node n1"}},
		"a pod waits":           {dumped(pod("c", "n1", "Pending", "")), []string{"perhaps leaked-claim address 10.0.1.4, network cbr0, node n1"}},
		"a pod of another node": {dumped(pod("c", "n2", "Pending", "")), []string{"leaked-claim address 10.0.1.4, network cbr0, node n1"}},
		"a pod has it":          {dumped(pod("c", "n1", "Running", "10.0.1.4")), nil},
		"a finished pod had it": {dumped(pod("c", "n1", "Succeeded", "10.0.1.4")), nil},
		"no pods":               {list("nodes", node("n1", "10.0.1.0/29"), node("n2", "10.0.2.0/29")), []string{"perhaps leaked-claim address 10.0.1.2, network cbr0, node n1", "perhaps leaked-claim address 10.0.1.4, network cbr0, node n1"}},
	} {
		got, _ := found(t, texts("dump.yaml", tt.dump, "ls.txt", ls))
		if d := cmp.Diff(tt.want, got); d != "" {
			t.Errorf("%s: -want +got:\n%s", name, d)
		}
	}
}

// A node that has given away all its addresses starts no pod: of a /29 there are 5.
func TestExhausted(t *testing.T) {
	ls := "root@n1:~# ls /var/lib/cni/networks/cbr0\n10.0.1.2\n10.0.1.3\n10.0.1.4\n10.0.1.5\n"
	got, _ := found(t, texts("dump.yaml", dumped(), "ls.txt", ls))
	if slices.ContainsFunc(got, func(s string) bool { return strings.HasPrefix(s, imported.Exhausted) }) || len(got) != 3 {
		t.Errorf("one is free: %q", got)
	}
	got, _ = found(t, texts("dump.yaml", dumped(), "ls.txt", ls+"10.0.1.6\n"))
	if !slices.Contains(got, "exhausted node n1, range 10.0.1.0/29") || len(got) != 5 {
		t.Errorf("none is free: %q", got)
	}
}

// What is hostile is no error, and names of nodes do not get into what strangers see.
func TestHostile(t *testing.T) {
	for _, ls := range []string{
		"root@n1:~# ls /var/lib/cni/networks/../../x\n10.0.1.2\n", "/var/lib/cni/networks/cbr0:\n" + strings.Repeat("10.0.1.2 ", 5000) + "\n", "/var/lib/cni/networks/\x00cbr0:\n1\n",
		"/var/lib/cni/networks/cbr0/10.0.1.300\n/var/lib/cni/networks/cbr0/fe80::1%eth0\n/var/lib/cni/networks/cbr0/::\n", "/var/lib/cni/networks/a;rm -rf $HOME:\n10.0.1.7\n",
	} {
		if err := dumptest.Check(managers.All(), []byte(dumped()+ls)); err != nil {
			t.Errorf("%q: %v", ls, err)
		}
	}
}

// Without a listing, pods show that a node of flannel's has no address left, if others wait.
func TestCrowded(t *testing.T) {
	for n, want := range map[int]bool{4: false, 5: true} {
		pods := []string{pod("new", "n1", "Pending", "")}
		for i := range n {
			pods = append(pods, pod(fmt.Sprintf("p%d", i), "n1", "Running", fmt.Sprintf("10.0.1.%d", i+2)))
		}
		flannel := strings.Replace(node("n1", "10.0.1.0/29"), "{name: n1}", "{name: n1, annotations: {flannel.alpha.coreos.com/backend-type: vxlan}}", 1)
		got, _ := found(t, texts("dump.yaml", list("nodes", flannel)+list("pods", pods...)))
		if slices.Contains(got, "exhausted node n1, range 10.0.1.0/29") != want {
			t.Errorf("%d pods: %q", n, got)
		}
	}
}
