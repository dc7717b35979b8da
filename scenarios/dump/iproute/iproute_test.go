package iproute_test

import (
	"io"
	"net/netip"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ipamsim/scenarios/dump/iproute"
)

// read is what is found in a text, and what others see of it.
func read(t *testing.T, name, text string) (all []iproute.Output, rest string) {
	t.Helper()
	b, err := io.ReadAll(iproute.Reader(name, strings.NewReader(text), func(x iproute.Output) { all = append(all, x) }))
	if err != nil {
		t.Fatal(err)
	}
	return all, string(b)
}

const table = `default via 192.168.1.1 dev eth0 proto dhcp src 192.168.1.11 metric 100
blackhole 10.0.0.0/26 proto bird
10.0.0.2 dev cali1234 scope link
10.0.0.64/26 via 192.168.1.12 dev eth0 proto bird
10.0.0.128/26 proto bird
	nexthop via 192.168.1.13 dev eth0 weight 1
	nexthop via 192.168.1.14 dev eth0 weight 1
10.0.1.0/26 via 192.168.1.15 dev eth1 proto bird linkdown
192.168.1.0/24 dev eth0 proto kernel scope link src 192.168.1.11
`

func noHost(string) string { return "" }

// TestWay: where packets go by a whole table.
func TestWay(t *testing.T) {
	all, rest := read(t, "x.txt", "[root@w1 ~]# ip route\n"+table+"[root@w1 ~]# kubectl get nodes\nNAME\n")
	if len(all) != 1 || len(all[0].Routes) != 7 || !all[0].Whole || all[0].From.Line != 2 {
		t.Fatalf("got %+v", all)
	}
	if strings.Count(rest, "\n") != 12 || strings.Contains(rest, "blackhole") || !strings.Contains(rest, "kubectl get nodes\nNAME") {
		t.Errorf("others see %q", rest)
	}
	o := &iproute.Outputs{}
	o.AddOutput(all[0])
	n := o.Of([]string{"w1", "w2"}, noHost)
	if len(n) != 1 || n["w1"] == nil {
		t.Fatalf("of nodes %v, want w1", n)
	}
	for addr, want := range map[string]string{
		"10.0.0.1": "blackhole 10.0.0.0/26 proto bird", "10.0.0.2": "10.0.0.2 dev cali1234 scope link",
		"10.0.0.70":  "10.0.0.64/26 via 192.168.1.12 dev eth0 proto bird",
		"10.0.0.130": "10.0.0.128/26 proto bird nexthop via 192.168.1.13 dev eth0 weight 1 nexthop via 192.168.1.14 dev eth0 weight 1",
		"8.8.8.8":    "default via 192.168.1.1 dev eth0 proto dhcp src 192.168.1.11 metric 100",
		"10.0.1.1":   "unknown", "2001:db8::1": "unknown",
	} {
		way := n["w1"].Way(netip.MustParseAddr(addr))
		got := "unknown"
		if way.Known && way.Route != nil {
			got = way.Route.Text
		}
		if got != want {
			t.Errorf("%s: %s, want %s", addr, got, want)
		}
	}
}

// TestUnknown: what is not a whole listing of one node's own table shows nothing.
func TestUnknown(t *testing.T) {
	const addr = "10.0.0.1"
	other := strings.Replace(table, "blackhole 10.0.0.0/26", "10.0.0.0/26 via 192.168.1.12 dev eth0", 1)
	for name, text := range map[string]string{
		"no prompt behind":  "[root@w1 ~]# ip route\n" + table,
		"an ellipsis":       "[root@w1 ~]# ip route\n" + table + "...\n[root@w1 ~]# \n",
		"no host":           "$ ip route\n" + table + "$ \n",
		"another host":      "[root@w9 ~]# ip route\n" + table + "[root@w9 ~]# \n",
		"a filter":          "[root@w1 ~]# ip route | grep bird\n" + table + "[root@w1 ~]# \n",
		"one prefix":        "[root@w1 ~]# ip route show 10.0.0.0/26\n" + table + "[root@w1 ~]# \n",
		"a name space":      "[root@w1 ~]# ip -n red route\n" + table + "[root@w1 ~]# \n",
		"a pod's":           "[root@w1 ~]# kubectl exec -n shop web-1 -- ip route\n" + table + "[root@w1 ~]# \n",
		"two instants":      "[root@w1 ~]# ip route\n" + table + "[root@w1 ~]# ip route\n" + other + "[root@w1 ~]# \n",
		"a table of rules":  "[root@w1 ~]# ip route show table all\n" + table + "10.0.0.0/26 dev wireguard.cali table 1 scope link\n[root@w1 ~]# \n",
		"prose":             "On w1 I typed ip route\n" + table + "[root@w1 ~]# \n",
		"several may be it": "[root@w ~]# ip route\n" + table + "[root@w ~]# \n",
	} {
		o := &iproute.Outputs{}
		all, _ := read(t, "x.txt", text)
		for _, x := range all {
			o.AddOutput(x)
		}
		for node, n := range o.Of([]string{"w1", "w2", "w.a.example", "w.b.example"}, noHost) {
			if way := n.Way(netip.MustParseAddr(addr)); way.Known {
				t.Errorf("%s: %s is known to have %+v", name, node, way.Route)
			}
		}
	}
}

// TestHost: whose a listing is.
func TestHost(t *testing.T) {
	nodes := []string{"w1", "w2.example.com", "w1-2", "kind-worker"}
	hostOf := func(pod string) string { return map[string]string{"calico-system/calico-node-abc": "w1"}[pod] }
	for prompt, want := range map[string]string{
		"[root@w1 ~]# ":                       "w1",
		"core@w2:~$ ":                         "w2.example.com",
		"root@w2.example.com:/# sudo ":        "w2.example.com",
		"w1:~ # ":                             "w1",
		"$ ssh core@w1 ":                      "w1",
		"$ ssh -o X=y w1 sudo ":               "w1",
		"admin@laptop:~$ ssh w1 ":             "w1",
		"$ oc debug node/w1 -- chroot /host ": "w1",
		"$ docker exec -it kind-worker ":      "kind-worker",
		"$ kubectl exec -n calico-system calico-node-abc -c calico-node -- ":   "w1",
		"[root@w1-2 ~]# kubectl -n calico-system exec -it calico-node-abc -- ": "w1",
		"[root@w1 ~]# kubectl exec -n calico-system ds/calico-node -- ":        "",
		"[root@w1 ~]# kubectl exec -n calico-system calico-node-gone -- ":      "",
		"[root@w9 ~]# ": "",
	} {
		all, _ := read(t, "cluster/dump.txt", prompt+"ip route\n"+table+prompt+"\n")
		o := &iproute.Outputs{}
		for _, x := range all {
			o.AddOutput(x)
		}
		got := ""
		for name := range o.Of(nodes, hostOf) {
			got = name
		}
		if got != want {
			t.Errorf("%q: node %q, want %q", prompt, got, want)
		}
	}
}

// TestFile: files of support bundles, by their real names.
func TestFile(t *testing.T) {
	nodes := []string{"w1", "w2.example.com", "w1-2"}
	for name, want := range map[string]string{
		"sosreport-w2-2026-11-30-abc/sos_commands/networking/ip_route_show_table_all":   "w2.example.com",
		"sosreport-w1-2-2026-11-30-abc/sos_commands/networking/ip_route_show_table_all": "",
		"host/sos_commands/networking/ip_route_show_table_all":                          "w1",
		"w2-2026-11-30/networking/iproute":                                              "w2.example.com",
		"calico-diagnostics/nodes/w1/ip-route.txt":                                      "w1",
		"diags/ipv4_route": "",
		"ip-route-w1.txt":  "w1",
		"w1.ip_route.json": "w1",
		"w1/sos_commands/networking/ip_-d_route_show_cache":                                   "",
		"w1/sos_commands/networking/namespaces/red/ip_netns_exec_red_ip_route_show_table_all": "",
		"w1/src/ip_route.go": "",
	} {
		o := &iproute.Outputs{}
		o.AddHost("host/sos_commands/host/hostname", []byte("w1\n"))
		if out, ok, err := iproute.File(name, strings.NewReader(table)); err != nil {
			t.Fatal(err)
		} else if ok {
			if !out.Whole {
				t.Errorf("%s is not whole", name)
			}
			o.AddOutput(out)
		}
		got := ""
		for node := range o.Of(nodes, noHost) {
			got = node
		}
		if got != want {
			t.Errorf("%s: node %q, want %q", name, got, want)
		}
	}
	if out, _, _ := iproute.File("w1/ip-route.txt", strings.NewReader(strings.TrimSuffix(table, "\n"))); out.Whole {
		t.Error("a file whose last line has no end is whole")
	}
	if _, ok, _ := iproute.File("w1/ip-route.txt", strings.NewReader("sh: ip: not found\n")); ok {
		t.Error("an error of the shell is read as routes")
	}
}

// TestJSON: ip -j route says the same.
func TestJSON(t *testing.T) {
	const text = `[{"dst":"default","gateway":"192.168.1.1","dev":"eth0","protocol":"dhcp","metric":100,"flags":[]},{"type":"blackhole","dst":"10.0.0.0/26","protocol":"bird","flags":[]},` +
		"\n" + `{"dst":"10.0.0.128/26","protocol":"bird","flags":[],"nexthops":[{"gateway":"192.168.1.13","dev":"eth0","weight":1,"flags":[]},{"gateway":"192.168.1.14","dev":"eth0","weight":1,"flags":["dead"]}]}]` + "\n"
	all, rest := read(t, "x", "[root@w1 ~]# ip -j route\n"+text+"[root@w1 ~]# \n")
	if len(all) != 1 || !all[0].Whole {
		t.Fatalf("got %+v", all)
	}
	var got []string
	for _, r := range all[0].Routes {
		got = append(got, r.Text)
	}
	want := []string{"default via 192.168.1.1 dev eth0 metric 100", "blackhole 10.0.0.0/26", "10.0.0.128/26 via 192.168.1.13 dev eth0 via 192.168.1.14 dev eth0 dead"}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if strings.Contains(rest, "dst") {
		t.Errorf("others see %q", rest)
	}
}

// TestHostileJSON: lines that look like the end of JSON cost no more than others.
func TestHostileJSON(t *testing.T) {
	text := "[root@w1 ~]# ip -j route\n[\n" + strings.Repeat("\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\" ]\n", 1<<17)
	all, rest := read(t, "x", text)
	if len(all) != 1 || len(all[0].Routes) > 0 || strings.Count(rest, "\n") != strings.Count(text, "\n") {
		t.Errorf("%d outputs, %d lines", len(all), strings.Count(rest, "\n"))
	}
	pretty := "[root@w1 ~]# ip -j -p route\n[" + strings.TrimSuffix(strings.Repeat("{\n        \"dst\": \"10.0.0.0/26\",\n        \"dev\": \"eth0\",\n        \"flags\": [ ]\n    },", 100), ",") + " ]\n[root@w1 ~]# \n"
	if all, _ := read(t, "x", pretty); len(all) != 1 || len(all[0].Routes) != 100 || !all[0].Whole {
		t.Errorf("%d outputs of pretty JSON", len(all))
	}
}

// TestOwn: addresses of interfaces and tunnels, in the forms of ip addr.
func TestOwn(t *testing.T) {
	plain := "[root@w1 ~]# ip addr\n1: lo: <LOOPBACK,UP> mtu 65536 qdisc noqueue state UNKNOWN\n    link/loopback 00:00:00:00:00:00 brd 00:00:00:00:00:00\n    inet 127.0.0.1/8 scope host lo\n       valid_lft forever preferred_lft forever\n" +
		"2: eth0@if3: <UP> mtu 1500\n    link/ether 02:00:00:00:00:01 brd ff:ff:ff:ff:ff:ff\n    altname enp1s0\n    inet 192.168.1.11/24 brd 192.168.1.255 scope global eth0\n    inet6 fe80::1/64 scope link\n" +
		"9: vxlan.calico: <UP> mtu 1450\n    inet 10.0.0.64/32 scope global vxlan.calico\n4: docker0: <UP>\n    inet 172.17.0.1/16 scope global docker0\n[root@w1 ~]#\n"
	oneline := "[root@w2 ~]# ip -o addr\n2: eth0    inet 192.168.1.12/24 brd 192.168.1.255 scope global eth0\\       valid_lft forever preferred_lft forever\n[root@w2 ~]#\n"
	json := "[root@w3 ~]# ip -j addr\n[{\"ifname\":\"tunl0\",\"addr_info\":[{\"family\":\"inet\",\"local\":\"10.0.0.192\",\"prefixlen\":32}]}]\n[root@w3 ~]#\n"
	o := &iproute.Outputs{}
	for _, text := range []string{plain, oneline, json} {
		all, _ := read(t, "x", text)
		for _, x := range all {
			o.AddOutput(x)
		}
	}
	want := map[netip.Addr]string{}
	for a, n := range map[string]string{"192.168.1.11": "w1", "10.0.0.64": "w1", "192.168.1.12": "w2", "10.0.0.192": "w3"} {
		want[netip.MustParseAddr(a)] = n
	}
	if d := cmp.Diff(want, o.Own([]string{"w1", "w2", "w3"}, noHost), cmp.Comparer(func(a, b netip.Addr) bool { return a == b })); d != "" {
		t.Error(d)
	}
}
