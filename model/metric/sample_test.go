package metric_test

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ipamsim/model"
	"ipamsim/model/metric"
	"ipamsim/model/route"
)

func cidr(s string) netip.Prefix { return netip.MustParsePrefix(s) }
func ip(s string) netip.Addr     { return netip.MustParseAddr(s) }

// staging is the cluster of seeds/000: a /24 in blocks of 64. kubestage1001 and
// kubestage1002 have all blocks, and a pod on kubestage1003 has a borrowed address.
func staging() metric.View {
	v := metric.View{
		Routes: true,
		Truth:  model.Truth{Pods: map[model.PodRef]model.Pod{}, Nodes: map[string]model.Node{}},
		Networks: []model.Network{{
			Key: "k8s-pod-network", Ranges: []model.Range{{Prefix: cidr("10.64.75.0/24"), Start: ip("10.64.75.0"), End: ip("10.64.75.255")}},
			Blocks: &model.BlockPolicy{AutoAllocate: true, V4: true},
		}},
	}
	pool := model.IPPool{Name: "staging", Prefix: cidr("10.64.75.0/24"), BlockBits: 26, Workloads: true}
	for _, n := range []string{"kubestage1001", "kubestage1002", "kubestage1003", "kubestage1004"} {
		v.Truth.Nodes[n] = model.Node{Up: true, Registered: true}
		pool.Nodes = append(pool.Nodes, n)
	}
	v.Networks[0].Blocks.Pools = []model.IPPool{pool}
	for i, node := range []string{"kubestage1001", "kubestage1002", "kubestage1001", "kubestage1002"} {
		b := netip.PrefixFrom(netip.AddrFrom4([4]byte{10, 64, 75, byte(64 * i)}), 26)
		v.Record.Pools = append(v.Record.Pools, model.Pool{Name: fmt.Sprint(b), Range: b, Node: node})
		v.Record.Affinities = append(v.Record.Affinities, model.Affinity{Block: b, Node: node, State: model.Confirmed})
	}
	pod(&v, "echo-a", "kubestage1001", "10.64.75.4")
	pod(&v, "echo-b", "kubestage1002", "10.64.75.64")
	pod(&v, "echo-c", "kubestage1003", "10.64.75.0")
	lose(&v, "kubestage1001", "10.64.75.0")
	lose(&v, "kubestage1002", "10.64.75.0")
	return v
}

// pod adds a pod that runs on a node with an address.
func pod(v *metric.View, name, node, addr string) {
	ref := model.PodRef{Namespace: "default", Name: name}
	v.Truth.Pods[ref] = model.Pod{UID: "uid-" + name, Node: node, Phase: "Running"}
	v.Truth.Sandboxes = append(v.Truth.Sandboxes, model.Sandbox{
		ID: "box-" + name, Pod: ref, UID: "uid-" + name, Node: node,
		Attachments: []model.Attachment{{Network: v.Networks[0].Key, Addrs: []netip.Addr{ip(addr)}}},
	})
	claim(v, ref, node, addr)
}

func claim(v *metric.View, ref model.PodRef, node, addr string) {
	i := slices.IndexFunc(v.Record.Pools, func(p model.Pool) bool { return p.Range.Contains(ip(addr)) })
	v.Record.Claims = append(v.Record.Claims, model.Claim{Pool: v.Record.Pools[i].Name, Addr: ip(addr), Pod: ref, Container: "box-" + ref.Name, Node: node})
}

func lose(v *metric.View, from, to string) {
	v.Losses = append(v.Losses, route.Loss{From: from, To: ip(to), At: "kubestage1001", Route: "blackhole 10.64.75.0/26 proto bird"})
}

// exported is a sample as a monitoring system would show it.
func exported(v metric.View) []string {
	var out []string
	for _, p := range metric.Sample(v) {
		out = append(out, fmt.Sprintf("%s %g", p.Key(), p.Value))
	}
	return out
}

// TestStagingCluster: the metrics show what was not visible in the incident of seeds/000.
func TestStagingCluster(t *testing.T) {
	want := strings.Split(strings.TrimSpace(`
ipam_allocations_borrowed{ippool="staging",node="kubestage1001"} 0
ipam_allocations_borrowed{ippool="staging",node="kubestage1002"} 0
ipam_allocations_borrowed{ippool="staging",node="kubestage1003"} 1
ipam_allocations_borrowed{ippool="staging",node="kubestage1004"} 0
ipam_allocations_borrowed_per_node{node="kubestage1003"} 1
ipam_allocations_gc_candidates{ippool="staging",node="kubestage1001"} 0
ipam_allocations_gc_candidates{ippool="staging",node="kubestage1002"} 0
ipam_allocations_gc_candidates{ippool="staging",node="kubestage1003"} 0
ipam_allocations_gc_candidates{ippool="staging",node="kubestage1004"} 0
ipam_allocations_in_use{ippool="staging",node="kubestage1001"} 1
ipam_allocations_in_use{ippool="staging",node="kubestage1002"} 1
ipam_allocations_in_use{ippool="staging",node="kubestage1003"} 1
ipam_allocations_in_use{ippool="staging",node="kubestage1004"} 0
ipam_allocations_per_node{node="kubestage1001"} 1
ipam_allocations_per_node{node="kubestage1002"} 1
ipam_allocations_per_node{node="kubestage1003"} 1
ipam_blocks{ippool="staging",node="kubestage1001"} 2
ipam_blocks{ippool="staging",node="kubestage1002"} 2
ipam_blocks_per_node{node="kubestage1001"} 2
ipam_blocks_per_node{node="kubestage1002"} 2
ipam_ippool_size{ippool="staging"} 256
ipamsim_blackholed_addresses 1
ipamsim_blackholed_pairs 2
ipamsim_empty_blocks{ippool="staging"} 2
ipamsim_free_blocks{ippool="staging"} 0
ipamsim_leaked_addresses{ippool="staging"} 0
ipamsim_nodes_without_block 2
ipamsim_starved_nodes 2
`), "\n")
	if d := cmp.Diff(want, exported(staging())); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
}

// TestOneChange takes the staging cluster, changes one thing, and looks at what
// changes with it.
func TestOneChange(t *testing.T) {
	gone := model.PodRef{Namespace: "default", Name: "gone"}
	for _, c := range []struct {
		name   string
		change func(*metric.View)
		want   []string
	}{
		{"nothing", func(*metric.View) {}, nil},
		{"a claim outlives its pod", func(v *metric.View) { claim(v, gone, "kubestage1001", "10.64.75.5") }, []string{
			`ipam_allocations_gc_candidates{ippool="staging",node="kubestage1001"} 1`,
			`ipam_allocations_in_use{ippool="staging",node="kubestage1001"} 2`,
			`ipam_allocations_per_node{node="kubestage1001"} 2`,
			`ipamsim_leaked_addresses{ippool="staging"} 1`,
		}},
		{"a claim whose ADD is under way leaks nothing, though the controller would mark it", func(v *metric.View) {
			claim(v, gone, "kubestage1001", "10.64.75.5")
			v.Truth.Busy = map[string]model.Busy{"box-gone": {Pod: gone}}
		}, []string{
			`ipam_allocations_gc_candidates{ippool="staging",node="kubestage1001"} 1`,
			`ipam_allocations_in_use{ippool="staging",node="kubestage1001"} 2`,
			`ipam_allocations_per_node{node="kubestage1001"} 2`,
		}},
		{"the claim of a pod whose node lost power stays its own", func(v *metric.View) {
			claim(v, gone, "kubestage1004", "10.64.75.5")
			v.Truth.Pods[gone] = model.Pod{Node: "kubestage1004", Phase: "Running"}
			v.Truth.Nodes["kubestage1004"] = model.Node{Registered: true}
		}, []string{
			`ipam_allocations_borrowed{ippool="staging",node="kubestage1004"} 1`,
			`ipam_allocations_borrowed_per_node{node="kubestage1004"} 1`,
			`ipam_allocations_in_use{ippool="staging",node="kubestage1004"} 1`,
			`ipam_allocations_per_node{node="kubestage1004"} 1`,
			`ipamsim_nodes_without_block 1`,
			`ipamsim_starved_nodes 1`,
		}},
		{"a pod that was started again has another address", func(v *metric.View) {
			claim(v, model.PodRef{Namespace: "default", Name: "echo-a"}, "kubestage1001", "10.64.75.5")
			v.Record.Claims[3].Container = "box-before"
		}, []string{
			`ipam_allocations_gc_candidates{ippool="staging",node="kubestage1001"} 1`,
			`ipam_allocations_in_use{ippool="staging",node="kubestage1001"} 2`,
			`ipam_allocations_per_node{node="kubestage1001"} 2`,
			`ipamsim_leaked_addresses{ippool="staging"} 1`,
		}},
		{"the tunnel of a node that was removed", func(v *metric.View) {
			delete(v.Truth.Nodes, "kubestage1004")
			v.Record.Claims = append(v.Record.Claims, model.Claim{Pool: "10.64.75.0/26", Addr: ip("10.64.75.9"), Node: "kubestage1004", Tunnel: true})
		}, []string{
			`ipam_allocations_borrowed{ippool="staging",node="kubestage1004"} 1`,
			`ipam_allocations_borrowed_per_node{node="kubestage1004"} 1`,
			`ipam_allocations_gc_candidates{ippool="staging",node="kubestage1004"} 1`,
			`ipam_allocations_in_use{ippool="staging",node="kubestage1004"} 1`,
			`ipam_allocations_per_node{node="kubestage1004"} 1`,
			`ipamsim_leaked_addresses{ippool="staging"} 1`,
			`ipamsim_nodes_without_block 1`,
			`ipamsim_starved_nodes 1`,
		}},
		{"an empty block is released", func(v *metric.View) {
			v.Record.Pools, v.Record.Affinities = v.Record.Pools[:3], v.Record.Affinities[:3]
		}, []string{
			`ipam_blocks{ippool="staging",node="kubestage1002"} 1`,
			`ipam_blocks_per_node{node="kubestage1002"} 1`,
			`ipamsim_empty_blocks{ippool="staging"} 1`,
			`ipamsim_free_blocks{ippool="staging"} 1`,
			`ipamsim_starved_nodes 0`,
		}},
		{"only its affinity is left", func(v *metric.View) { v.Record.Pools = v.Record.Pools[:3] }, []string{
			`ipam_blocks{ippool="staging",node="kubestage1002"} 1`,
			`ipam_blocks_per_node{node="kubestage1002"} 1`,
			`ipamsim_empty_blocks{ippool="staging"} 1`,
		}},
		{"larger blocks than the pool has now", func(v *metric.View) {
			v.Networks[0].Blocks.Pools[0].BlockBits = 28
			v.Record.Pools, v.Record.Affinities = v.Record.Pools[:3], v.Record.Affinities[:3]
		}, []string{
			`ipam_blocks{ippool="staging",node="kubestage1002"} 1`,
			`ipam_blocks_per_node{node="kubestage1002"} 1`,
			`ipamsim_empty_blocks{ippool="staging"} 1`,
			`ipamsim_free_blocks{ippool="staging"} 4`,
			`ipamsim_starved_nodes 0`,
		}},
		{"the pool is deleted", func(v *metric.View) { v.Networks[0].Blocks.Pools = nil }, []string{
			`ipam_allocations_borrowed{ippool="no_ippool",node="kubestage1003"} 1`,
			`ipam_allocations_in_use{ippool="no_ippool",node="kubestage1001"} 1`,
			`ipam_allocations_in_use{ippool="no_ippool",node="kubestage1002"} 1`,
			`ipam_allocations_in_use{ippool="no_ippool",node="kubestage1003"} 1`,
			`ipam_blocks{ippool="no_ippool",node="kubestage1001"} 2`,
			`ipam_blocks{ippool="no_ippool",node="kubestage1002"} 2`,
			`ipamsim_empty_blocks{ippool="no_ippool"} 2`,
			`ipamsim_leaked_addresses{ippool="no_ippool"} 0`,
			`ipamsim_nodes_without_block 0`,
			`ipamsim_starved_nodes 0`,
		}},
	} {
		before, v := exported(staging()), staging()
		c.change(&v)
		var got []string
		for _, line := range exported(v) {
			if !slices.Contains(before, line) {
				got = append(got, line)
			}
		}
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%s (-want +got)\n%s", c.name, d)
		}
	}
}

// TestBothFamilies: a cluster with pools of both address families has additional metrics
// for each family, because a correct total can hide a wrong family.
func TestBothFamilies(t *testing.T) {
	v := staging()
	four := v.Networks[0].Blocks.Pools[0]
	six := model.IPPool{Name: "six", Prefix: cidr("fd64:75::/64"), BlockBits: 122, Workloads: true, Nodes: four.Nodes}
	v.Networks[0].Blocks.Pools = append(v.Networks[0].Blocks.Pools, six)
	v.Networks[0].Blocks.V6 = true
	v.Networks[0].Ranges = append(v.Networks[0].Ranges, model.Range{Prefix: six.Prefix, Start: ip("fd64:75::"), End: ip("fd64:75::ffff:ffff:ffff:ffff")})
	for i, node := range four.Nodes[:3] {
		b := netip.PrefixFrom(ip(fmt.Sprintf("fd64:75::%x", 64*i)), 122)
		v.Record.Pools = append(v.Record.Pools, model.Pool{Name: fmt.Sprint(b), Range: b, Node: node})
		v.Record.Affinities = append(v.Record.Affinities, model.Affinity{Block: b, Node: node, State: model.Confirmed})
	}
	pod(&v, "echo-d", "kubestage1002", "fd64:75::5")
	lose(&v, "kubestage1001", "fd64:75::5")
	before, want := exported(staging()), strings.Split(strings.TrimSpace(`
ipamsim_blackholed_addresses 2
ipamsim_blackholed_addresses_per_family{family="IPv4"} 1
ipamsim_blackholed_addresses_per_family{family="IPv6"} 1
ipamsim_blackholed_pairs 3
ipamsim_blackholed_pairs_per_family{family="IPv4"} 2
ipamsim_blackholed_pairs_per_family{family="IPv6"} 1
ipamsim_empty_blocks{ippool="six"} 2
ipamsim_free_blocks{ippool="six"} 2.8823037615171174e+17
ipamsim_leaked_addresses{ippool="six"} 0
ipamsim_nodes_without_block_per_family{family="IPv4"} 2
ipamsim_nodes_without_block_per_family{family="IPv6"} 1
ipamsim_starved_nodes_per_family{family="IPv4"} 2
ipamsim_starved_nodes_per_family{family="IPv6"} 0
`), "\n")
	var got []string
	for _, line := range exported(v) {
		if !slices.Contains(before, line) && strings.HasPrefix(line, "ipamsim_") {
			got = append(got, line)
		}
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
	for _, p := range metric.Sample(v) {
		if !slices.ContainsFunc(metric.Families(), func(f metric.Family) bool { return f.Name == p.Name }) {
			t.Errorf("%s has no family", p.Name)
		}
	}
}

// TestRanges: an address manager without blocks.
func TestRanges(t *testing.T) {
	v := metric.View{
		Networks: []model.Network{{Key: "default/net", Ranges: []model.Range{{
			Prefix: cidr("10.0.0.0/24"), Start: ip("10.0.0.1"), End: ip("10.0.0.254"),
			Exclude: []netip.Prefix{cidr("10.0.0.0/28"), cidr("10.0.0.8/29"), cidr("10.0.0.0/28"), cidr("fd00::/64")},
		}, {Prefix: cidr("fd00::/64"), Start: ip("fd00::1"), End: ip("fd00::ffff:ffff:ffff:fffe")}}}},
		Truth:  model.Truth{Pods: map[model.PodRef]model.Pod{}, Nodes: map[string]model.Node{"a": {Up: true, Registered: true}}},
		Record: model.Snapshot{Pools: []model.Pool{{Name: "10.0.0.0-24", Range: cidr("10.0.0.0/24")}, {Name: "fd00---64", Range: cidr("fd00::/64")}}},
	}
	pod(&v, "web-0", "a", "10.0.0.16")
	claim(&v, model.PodRef{Namespace: "default", Name: "web-1"}, "a", "10.0.0.17")
	want := strings.Split(strings.TrimSpace(`
ipamsim_range_in_use{network="default/net",range="10.0.0.0/24"} 2
ipamsim_range_in_use{network="default/net",range="fd00::/64"} 0
ipamsim_range_leaked_addresses{network="default/net",range="10.0.0.0/24"} 1
ipamsim_range_leaked_addresses{network="default/net",range="fd00::/64"} 0
ipamsim_range_size{network="default/net",range="10.0.0.0/24"} 239
ipamsim_range_size{network="default/net",range="fd00::/64"} 1.8446744073709552e+19
`), "\n")
	if d := cmp.Diff(want, exported(v)); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
}

// TestFamilies: every metric has a description.
func TestFamilies(t *testing.T) {
	var names []string
	for _, f := range metric.Families() {
		names = append(names, f.Name)
	}
	if !slices.IsSorted(names) || len(slices.Compact(slices.Clone(names))) != len(names) {
		t.Errorf("families %v are not sorted, or one is there twice", names)
	}
	for _, p := range metric.Sample(staging()) {
		if !slices.Contains(names, p.Name) {
			t.Errorf("%s has no family", p.Name)
		}
	}
}

func BenchmarkSample(b *testing.B) {
	v := staging()
	for i := range 30_000 {
		if i%64 == 0 {
			x := netip.PrefixFrom(netip.AddrFrom4([4]byte{10, 128, byte(i >> 8), byte(i)}), 26)
			node := fmt.Sprintf("node-%d", i/64)
			v.Truth.Nodes[node] = model.Node{Up: true, Registered: true}
			v.Record.Pools = append(v.Record.Pools, model.Pool{Name: x.String(), Range: x, Node: node})
		}
		ref := model.PodRef{Namespace: "default", Name: fmt.Sprint(i)}
		v.Record.Claims = append(v.Record.Claims, model.Claim{Pool: v.Record.Pools[len(v.Record.Pools)-1].Name, Addr: netip.AddrFrom4([4]byte{10, 128, byte(i >> 8), byte(i)}), Pod: ref})
	}
	v.Networks[0].Ranges[0].Prefix = cidr("10.0.0.0/8")
	for b.Loop() {
		metric.Sample(v)
	}
}
