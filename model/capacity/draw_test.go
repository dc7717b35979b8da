package capacity_test

import (
	"fmt"
	"net/netip"
	"time"

	"pgregory.net/rapid"

	"ipamsim/model"
	"ipamsim/model/capacity"
	"ipamsim/model/capacity/calico"
	"ipamsim/model/capacity/whereabouts"
	"ipamsim/model/capacity/workload"
	reference "ipamsim/model/reference/calico"
	rules "ipamsim/model/reference/whereabouts"
)

// drawCluster is a small cluster to which much happens within a day: more pods than
// there are addresses, often.
func drawCluster(t *rapid.T) *capacity.Cluster {
	some := func(what string, values ...time.Duration) time.Duration {
		return rapid.SampledFrom(values).Draw(t, what)
	}
	c := &capacity.Cluster{Workload: workload.Workload{Horizon: 24 * time.Hour, Samples: rapid.IntRange(2, 6).Draw(t, "samples")}}
	for i := range rapid.IntRange(1, 6).Draw(t, "nodes") {
		c.Nodes = append(c.Nodes, workload.Node{Name: fmt.Sprint("n", i), Labels: map[string]string{"rack": fmt.Sprint(i % 2)}})
	}
	c.Apart = some("apart", 0, 4*time.Second)
	c.Load = workload.Load{
		PodsPerNode: workload.Distribution{
			Shape: rapid.SampledFrom([]string{workload.Fixed, workload.Uniform, workload.Normal, workload.Poisson}).Draw(t, "shape"),
			Mean:  float64(rapid.IntRange(0, 12).Draw(t, "mean")), Spread: 3,
		},
		MaxPods: rapid.SampledFrom([]int{0, 10}).Draw(t, "maxPods"), Lifetime: some("lifetime", 0, time.Hour, 10*time.Hour),
		Grow: rapid.IntRange(0, 2).Draw(t, "grow"), GrowAt: some("growAt", 0, 5*time.Hour),
	}
	if rapid.IntRange(0, 3).Draw(t, "fixed") == 0 {
		c.Load.Pods = rapid.IntRange(1, 40).Draw(t, "pods")
	}
	if rapid.Bool().Draw(t, "lives") {
		c.Load.Lifetimes = workload.Lifetimes{Marks: []workload.Mark{{Share: 0.5, By: 20 * time.Minute}, {Share: 0.9, By: 5 * time.Hour}}, Rest: 20 * time.Hour}
	}
	if rapid.IntRange(0, 2).Draw(t, "arrivals") == 0 {
		c.Load.Begins = some("begins", 0, 30*time.Hour)
		c.Load.Arrivals = workload.Arrivals{PerHour: 4, Batch: 3, Hours: []float64{1, 0, 5}, Lifetimes: workload.Lifetimes{Rest: 2 * time.Hour}}
	}
	if c.Load.Pods > 0 {
		c.Load.GrowPods = rapid.IntRange(-10, 10).Draw(t, "growPods")
	}
	c.Trouble = workload.Trouble{
		DrainEvery: some("drainEvery", 0, 12*time.Hour), DrainFor: some("drainFor", 0, 10*time.Minute),
		CrashEvery: some("crashEvery", 0, 8*time.Hour), CrashFor: some("crashFor", time.Minute, 10*time.Minute),
		ReplaceEvery: some("replaceEvery", 0, 8*time.Hour), ReplaceFor: some("replaceFor", time.Minute, 10*time.Minute),
		KeepNode: rapid.IntRange(0, 3).Draw(t, "keepNode") == 0, Evict: some("evict", 0, 2*time.Minute),
		ReplaceDrained: rapid.Bool().Draw(t, "replaceDrained"),
	}
	c.Collect = workload.Collect{Every: some("every", 0, 17*time.Minute, time.Hour), Grace: some("grace", 0, time.Minute, reference.Never)}
	if rapid.Bool().Draw(t, "Calico") {
		c.Manager = drawCalico(t)
	} else {
		drawWhereabouts(t, c)
	}
	return c
}

func drawCalico(t *rapid.T) *calico.Config {
	m := &calico.Config{
		Datastore: rapid.SampledFrom([]reference.Datastore{reference.Etcd, reference.Kubernetes}).Draw(t, "datastore"),
		Settings: reference.Config{
			Strict: rapid.Bool().Draw(t, "strict"), AutoAllocate: rapid.IntRange(0, 4).Draw(t, "manual") > 0,
			MaxBlocks: rapid.SampledFrom([]int{0, 1, 2}).Draw(t, "maxBlocks"),
		},
		Tunnels: rapid.Bool().Draw(t, "tunnels"),
	}
	m.Pools = []reference.Pool{{
		Name: "a", Prefix: netip.MustParsePrefix("10.0.0.0/27"), BlockBits: rapid.IntRange(28, 31).Draw(t, "block"),
		IPIP: rapid.Bool().Draw(t, "IPIP"), NodeSelector: rapid.SampledFrom([]string{"", "all()", `rack == "0"`}).Draw(t, "selector"),
	}}
	if rapid.Bool().Draw(t, "second pool") {
		m.Pools = append(m.Pools, reference.Pool{Name: "b", Prefix: netip.MustParsePrefix("10.0.1.0/27"), BlockBits: 30, VXLAN: rapid.Bool().Draw(t, "VXLAN")})
		m.Routing = map[string]calico.Routing{"b": {NoExport: rapid.Bool().Draw(t, "unexported"), VXLAN: "CrossSubnet"}}
	}
	if rapid.IntRange(0, 2).Draw(t, "IPv6") == 0 {
		m.V4, m.V6 = true, true
		m.Pools = append(m.Pools, reference.Pool{Name: "six", Prefix: netip.MustParsePrefix("fd00::/122"), BlockBits: 124})
	}
	if rapid.IntRange(0, 2).Draw(t, "reserved") == 0 {
		m.Reserved = []netip.Prefix{netip.MustParsePrefix("10.0.0.0/30"), netip.MustParsePrefix("10.0.0.9/32")}
	}
	return m
}

func drawWhereabouts(t *rapid.T, c *capacity.Cluster) {
	between := func(p, first, last string, exclude ...netip.Prefix) model.Range {
		return model.Range{Prefix: netip.MustParsePrefix(p), Start: netip.MustParseAddr(first), End: netip.MustParseAddr(last), Exclude: exclude}
	}
	n := model.Network{Key: "default/net", Name: rapid.SampledFrom([]string{"", "blue"}).Draw(t, "network_name"), Overlap: rapid.Bool().Draw(t, "overlap")}
	n.Ranges = []model.Range{between("172.16.0.0/26", "172.16.0.1", "172.16.0.62", netip.MustParsePrefix("172.16.0.8/30"))}
	c.Manager = &whereabouts.Config{Rule: rapid.SampledFrom(append(rules.Rules(), "")).Draw(t, "rule")}
	switch rapid.IntRange(0, 2).Draw(t, "kind") {
	case 1: // one range within another
		n.Ranges = append(n.Ranges, between("172.16.0.0/25", "172.16.0.1", "172.16.0.126"))
		c.Networks = []model.Network{n, {Key: "default/other", Name: n.Name, Overlap: n.Overlap, Ranges: n.Ranges[:1]}}
	case 2:
		n.Slice = 29
		fallthrough
	default:
		c.Networks = []model.Network{n}
	}
}
