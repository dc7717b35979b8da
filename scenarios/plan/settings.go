package plan

import (
	"fmt"
	"net/netip"
	"slices"
	"time"

	"ipamsim/model/capacity"
	"ipamsim/model/route"
)

// Setting is one thing that a plan sets or varies, for all pods and nodes alike.
type Setting struct {
	Name  string
	Of    string // the only address manager that has it; "": both
	Means string // with its unit
	kind
}

// Want says what its values are: "a whole number, 1 to 10".
func (s Setting) Want() string { return s.want }

// Schema is the JSON Schema of its values.
func (s Setting) Schema() map[string]any { return s.schema }

// The address managers that plans are for.
const (
	calicoName      = "calico"
	whereaboutsName = "whereabouts"
)

// Bounds of a plan, against files that ask for more than any machine can answer.
const (
	nodesMax       = 10_000 // twice what Kubernetes supports
	podsMax        = 1_000_000
	podsPerNodeMax = 1000
)

// Known are all settings, in the order in which people think of them: addresses,
// machines, pods, trouble, upkeep.
func Known() []Setting {
	return slices.Concat(addressSettings(), loadSettings(), arrivalSettings(), troubleSettings())
}

func addressSettings() []Setting {
	return []Setting{
		{"pool", calicoName, "the CIDRs of the IPPools that there are", poolAddresses(func(d *draft, a addresses) { d.pools = a })},
		{"addPool", calicoName, "IPPools more; what is not said is as in the first one of the family", newPools(func(d *draft, p []newPool) { d.add = p })},
		{"resizePool", calicoName, "prefix lengths of IPPools, from the same address on", poolSizes(func(d *draft, m map[string]int) { d.resize = m })},
		{"removePool", calicoName, "IPPools that go", poolNames(func(d *draft, n []string) { d.remove = n })},
		{"poolSize", calicoName, "prefix length of the only IPPool, or the first of pool, from the same address on", whole(8, 124, func(d *draft, n int) { d.poolSize = n })},
		{"blockSize", calicoName, "prefix length of the blocks of a family's enabled IPPools, or of one; 26 is 64 addresses", blockLengths(func(d *draft, b blockSizes) { d.blocks = b })},
		{"temporaryPool", calicoName, "where the pods of a running cluster are while a pool is rebuilt; otherwise out of 100.64.0.0/10 or fdff::/16", prefixes(1, func(d *draft, p []netip.Prefix) { d.temporary = p })},
		{"restartPods", calicoName, "all pods of a running cluster are restarted once, when the rest of an option has been carried out", flag(func(d *draft, b bool) { d.restart = b })},
		{"restartEvery", calicoName, "time between two pods that are restarted on the way to an option; otherwise 10s", span(2*time.Second, func(d *draft, t time.Duration) { d.restartEvery = t })},
		{"strictAffinity", calicoName, "IPAMConfig: a node never borrows from another's block", flag(func(d *draft, b bool) { d.strict = &b })},
		{"autoAllocateBlocks", calicoName, "IPAMConfig: a node claims further blocks by itself", flag(func(d *draft, b bool) { d.auto = &b })},
		{"maxBlocksPerHost", calicoName, "IPAMConfig: blocks of one node at most; 0 is upstream's 20", whole(0, 10_000, func(d *draft, n int) { d.maxBlocks = &n })},
		{"range", whereaboutsName, "the first network's range", prefix(func(d *draft, p netip.Prefix) { d.span = p })},
		{"rangeStart", whereaboutsName, "first address of the range", address(func(d *draft, a netip.Addr) { d.start = a })},
		{"rangeEnd", whereaboutsName, "last address of the range", address(func(d *draft, a netip.Addr) { d.end = a })},
		{"exclude", whereaboutsName, "what of the range is left out", prefixes(0, func(d *draft, p []netip.Prefix) { d.exclude = p })},
		{"nodeSliceSize", whereaboutsName, "prefix length of a node's slice of the range; 0: no slices", whole(0, 30, func(d *draft, n int) { d.slice = &n })},
		{"overlap", whereaboutsName, "enable_overlapping_ranges: addresses are reserved across ranges", flag(func(d *draft, b bool) { d.overlap = &b })},
		{"datastore", calicoName, "where Calico keeps its record", word(func(d *draft, s string) { d.datastore = s }, "etcdv3", "kubernetes")},
		{"topology", calicoName, "who speaks BGP with whom", word(func(d *draft, s string) { d.topology = s }, route.Mesh, route.Reflectors, route.ToR)},
	}
}

func loadSettings() []Setting {
	return []Setting{
		{"nodes", "", "nodes at the beginning", whole(1, nodesMax, func(d *draft, n int) { d.nodes = n })},
		{"grow", "", "nodes that join over the horizon, at equal distances", whole(0, nodesMax, func(d *draft, n int) { d.load.Grow = n })},
		{"growAt", "", "when all of these join at once instead", span(time.Minute, func(d *draft, t time.Duration) { d.load.GrowAt = t })},
		{"pods", "", "pods that run in all, whatever nodes there are", whole(1, podsMax, func(d *draft, n int) {
			d.load.Pods, d.load.PodsPerNode = n, capacity.Distribution{}
		})},
		{"podsPerNode", "", "pods that run for each node, drawn for each", distribution(func(d *draft, x capacity.Distribution) {
			d.load.Pods, d.load.PodsPerNode = 0, x
		})},
		{"maxPods", "", "pods that a kubelet takes; otherwise 110", whole(1, podsPerNodeMax, func(d *draft, n int) { d.load.MaxPods = n })},
		{"lifetime", "", "how long a pod lives, exponential around this mean or by percentiles, until another takes its place; 0: it stays", lives(func(d *draft, t time.Duration, l capacity.Lives) {
			d.load.Lifetime, d.load.Lives = t, l
		})},
	}
}

func troubleSettings() []Setting {
	every := func(to func(*draft) *time.Duration) kind {
		return span(time.Minute, func(d *draft, t time.Duration) { *to(d) = t })
	}
	return []Setting{
		{"drainEvery", "", "time between two drains of a node, exponential around this mean; 0: none", every(func(d *draft) *time.Duration { return &d.trouble.DrainEvery })},
		{"drainFor", "", "how long a drained node takes no pods", every(func(d *draft) *time.Duration { return &d.trouble.DrainFor })},
		{"crashEvery", "", "time between two power losses of a node, exponential around this mean; 0: none", every(func(d *draft) *time.Duration { return &d.trouble.CrashEvery })},
		{"crashFor", "", "how long a node is without power", every(func(d *draft) *time.Duration { return &d.trouble.CrashFor })},
		{"replaceEvery", "", "time until a node is lost for good, exponential around this mean; 0: never", every(func(d *draft) *time.Duration { return &d.trouble.ReplaceEvery })},
		{"replaceFor", "", "how long until another node, of another name, takes its place", every(func(d *draft) *time.Duration { return &d.trouble.ReplaceFor })},
		{"replaceDrained", "", "a node that is replaced is drained first and then switched off", flag(func(d *draft, b bool) { d.trouble.ReplaceDrained = b })},
		{"keepNode", "", "nobody deletes the Node object of a node that was lost", flag(func(d *draft, b bool) { d.trouble.KeepNode = b })},
		{"evict", "", "how long pods stay on a silent node; otherwise 340s", span(time.Minute, func(d *draft, t time.Duration) { d.trouble.Evict = t })},
		{"reconcileEvery", "", "time between two passes of Calico's garbage collector or of ip-reconciler; 0: none", every(func(d *draft) *time.Duration { return &d.collect.Every })},
		{"grace", calicoName, "leakGracePeriod: how long the collector waits before it releases; otherwise 15m", grace(func(d *draft, t time.Duration) { d.collect.Grace = t })},
	}
}

// setting finds one.
func setting(name string) (Setting, bool) {
	for _, s := range Known() {
		if s.Name == name {
			return s, true
		}
	}
	return Setting{}, false
}

// put gives a setting a value. It says what is wrong, or "".
func (d *draft) put(s Setting, v any) string {
	if s.Of != "" && s.Of != d.manager {
		return fmt.Sprintf("%s is a setting of %s, and this is a plan for %s", s.Name, s.Of, d.manager)
	}
	if !s.set(d, v) {
		return fmt.Sprintf("want %s", s.want)
	}
	d.given[s.Name] = true
	return ""
}
