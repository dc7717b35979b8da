package main

import (
	"net/netip"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"ipamsim/model"
)

// Calico's own tests hold what its templates must render for a datastore that
// they list (confd/tests/mock_data). The keys that the lab makes for the same
// cluster must render the same files: then a lab node is configured as Calico
// would configure it.
func TestRenderedAsCalicoRenders(t *testing.T) {
	dir, _, err := findCalico()
	if err != nil {
		t.Fatal(err)
	}
	pool := func(cidr string) model.IPPool { return model.IPPool{Prefix: netip.MustParsePrefix(cidr)} }
	ipip := pool("192.168.0.0/16")
	ipip.IPIP = "Always"
	cross := pool("192.168.0.0/16")
	cross.IPIP = "CrossSubnet"
	vxlan := pool("192.168.0.0/16")
	vxlan.VXLAN = "Always"
	hidden := pool("192.168.2.0/24")
	hidden.NoExport = true
	master := func(length int, cluster string, peers ...peering) speaker {
		return speaker{name: "kube-master", addr: netip.PrefixFrom(netip.MustParseAddr("10.192.0.2"), length), cluster: cluster, peers: peers}
	}
	others := func(length int) []speaker {
		return []speaker{
			{name: "kube-node-1", addr: netip.PrefixFrom(netip.MustParseAddr("10.192.0.3"), length)},
			{name: "kube-node-2", addr: netip.PrefixFrom(netip.MustParseAddr("10.192.0.4"), length)},
		}
	}
	mesh := func(pools ...model.IPPool) cluster {
		return cluster{as: 64512, mesh: true, pools: pools, speakers: append(others(16), master(16, ""))}
	}
	elsewhere := mesh(cross) // another subnet in Calico's own test as well
	elsewhere.speakers[1].addr = netip.MustParsePrefix("10.192.0.6/16")
	reflector := cluster{as: 64532, pools: []model.IPPool{ipip}, speakers: append(others(16), master(16, "10.0.0.1",
		peering{addr: netip.MustParseAddr("10.192.0.3"), as: 64532, node: true},
		peering{addr: netip.MustParseAddr("10.192.0.4"), as: 64532, node: true},
		peering{addr: netip.MustParseAddr("172.19.4.87"), as: 64533}))}

	for golden, c := range map[string]cluster{
		"mesh/ipip-off":                    mesh(pool("192.168.0.0/16")),
		"mesh/ipip-always":                 mesh(ipip),
		"mesh/ipip-cross-subnet":           elsewhere,
		"mesh/vxlan-always":                mesh(vxlan),
		"mesh/bgp-export":                  mesh(pool("192.168.1.0/24"), hidden, pool("192.168.3.0/24")),
		"explicit_peering/route_reflector": reflector,
	} {
		t.Run(golden, func(t *testing.T) {
			for _, block := range blocksOf(t, filepath.Join(dir, "confd/tests/compiled_templates", golden, "bird_aggr.cfg")) {
				c.affinities = append(c.affinities, model.Affinity{Block: block, Node: "kube-master", State: model.Confirmed})
			}
			keys, err := c.keys(c.speakers[2])
			if err != nil {
				t.Fatal(err)
			}
			got := t.TempDir()
			if err := (confd{calico: dir, fork: true}).render(families[0], "kube-master", keys, got); err != nil {
				t.Fatal(err)
			}
			for _, f := range []string{"bird.cfg", "bird_aggr.cfg", "bird_ipam.cfg"} {
				want := statements(t, filepath.Join(dir, "confd/tests/compiled_templates", golden, f))
				if have := statements(t, filepath.Join(got, f)); have != want {
					t.Errorf("%s differs from Calico's:\n%s\nCalico's:\n%s", f, have, want)
				}
			}
		})
	}
}

// blocksOf reads which blocks a node of Calico's tests has.
func blocksOf(t *testing.T, file string) (blocks []netip.Prefix) {
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile(`net = ([0-9./]+)`).FindAllStringSubmatch(string(b), -1) {
		blocks = append(blocks, netip.MustParsePrefix(m[1]))
	}
	return blocks
}

// statements are a configuration without comments, the log level and space.
func statements(t *testing.T, file string) string {
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for line := range strings.Lines(string(b)) {
		line, _, _ = strings.Cut(line, "#")
		if line = strings.Join(strings.Fields(line), " "); line != "" && line != "debug { states };" {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n")
}

// A pending affinity is none to confd; one that is being deleted still is: its
// blackhole stays, and the block is not exported as the node's own.
func TestRenderedAffinityStates(t *testing.T) {
	dir, _, err := findCalico()
	if err != nil {
		t.Fatal(err)
	}
	c := cluster{as: 64512, mesh: true, speakers: []speaker{{name: "d", addr: netip.MustParsePrefix("10.64.0.14/24")}}}
	for state, block := range map[string]string{model.Pending: "10.64.75.0/26", model.PendingDeletion: "10.64.76.0/26", model.Confirmed: "10.64.77.0/26"} {
		c.affinities = append(c.affinities, model.Affinity{Block: netip.MustParsePrefix(block), Node: "d", State: state})
	}
	keys, err := c.keys(c.speakers[0])
	if err != nil {
		t.Fatal(err)
	}
	at := t.TempDir()
	if err := (confd{calico: dir}).render(families[0], "d", keys, at); err != nil {
		t.Fatal(err)
	}
	got := statements(t, filepath.Join(at, "bird_aggr.cfg"))
	for text, want := range map[string]bool{
		"10.64.75.0/26":                               false,
		"route 10.64.76.0/26 blackhole;":              true,
		"if ( net = 10.64.76.0/26 )":                  false,
		"route 10.64.77.0/26 blackhole;":              true,
		"if ( net = 10.64.77.0/26 ) then { accept; }": true,
	} {
		if strings.Contains(got, text) != want {
			t.Errorf("%q in it: %t, want %t:\n%s", text, !want, want, got)
		}
	}
}

// The statement that stock BIRD does not know goes, and nothing else. Where it names a
// tunnel what was learnt from others is left to the lab.
func TestStockBIRD(t *testing.T) {
	for fork, want := range map[string]string{
		"  if ( net ~ 10.0.0.0/8 ) then {\n    krt_tunnel = \"\"; # why\n    accept;\n  }\n":                                                         "  if ( net ~ 10.0.0.0/8 ) then {\n    accept;\n  }\n",
		"    krt_tunnel = \"tunl0\"; # why\n    accept;\n":                                                                                           "    if defined(bgp_next_hop) then reject; # why\n    accept;\n",
		"    if bgp_next_hop ~ 10.0.0.0/24 then\n      krt_tunnel = \"\";   # on the subnet\n    else\n      krt_tunnel = \"tunl0\";\n    accept;\n": "    if bgp_next_hop ~ 10.0.0.0/24 then\n      accept;\n    else\n      if defined(bgp_next_hop) then reject;\n    accept;\n",
	} {
		file := filepath.Join(t.TempDir(), "bird_ipam.cfg")
		if err := os.WriteFile(file, []byte(fork), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := stockBIRD(file); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(file); err != nil || string(got) != want {
			t.Errorf("%v: got %q, want %q", err, got, want)
		}
	}
}
