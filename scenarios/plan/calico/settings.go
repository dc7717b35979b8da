package calico

import (
	"net/netip"
	"time"

	"ipamsim/model/route"
	"ipamsim/scenarios/plan"
	"ipamsim/scenarios/plan/values"
)

func settings() []plan.Setting {
	return []plan.Setting{
		{Name: "pool", Means: "the CIDRs of the IPPools that there are", Type: poolAddresses()},
		{Name: "addPool", Means: "IPPools more; what is not said is as in the first one of the family", Type: newPools()},
		{Name: "resizePool", Means: "prefix lengths of IPPools, from the same address on", Type: poolSizes()},
		{Name: "removePool", Means: "IPPools that go", Type: poolNames()},
		{Name: "poolSize", Means: "prefix length of the only IPPool, or the first of pool, from the same address on", Type: values.Whole(8, 124)},
		{Name: "blockSize", Means: "prefix length of the blocks of a family's enabled IPPools, or of one; 26 is 64 addresses", Type: blockLengths()},
		{Name: "temporaryPool", Means: "where the pods of a running cluster are while a pool is rebuilt; otherwise out of 100.64.0.0/10 or fdff::/16", Type: values.CIDRs(1)},
		{Name: "restartPods", Means: "all pods of a running cluster are restarted once, when the rest of an option has been carried out", Type: values.Flag()},
		{Name: "restartEvery", Means: "time between two pods that are restarted on the way to an option; otherwise 10s",
			Type: plan.Into(values.Time(2*time.Second), func(d *plan.Draft, t time.Duration) { d.RestartEvery = t })},
		{Name: "strictAffinity", Means: "IPAMConfig: a node never borrows from another's block", Type: values.Flag()},
		{Name: "autoAllocateBlocks", Means: "IPAMConfig: a node claims further blocks by itself", Type: values.Flag()},
		{Name: "maxBlocksPerHost", Means: "IPAMConfig: blocks of one node at most; 0 is upstream's 20", Type: values.Whole(0, 10_000)},
		{Name: "datastore", Means: "where Calico keeps its record", About: plan.OfCluster,
			Type: plan.Into(values.Word(kubernetesDatastore, etcdDatastore), func(d *plan.Draft, s string) { d.Datastore = s })},
		{Name: "topology", Means: "who speaks BGP with whom", About: plan.OfCluster,
			Type: plan.Into(values.Word(route.Mesh, route.Reflectors, route.ToR), func(d *plan.Draft, s string) { d.Topology = s })},
		{Name: "grace", Means: "leakGracePeriod: how long the collector waits before it releases; otherwise 15m", About: plan.OfUpkeep,
			Type: plan.Into(values.TimeOrNever(), func(d *plan.Draft, t time.Duration) { d.Collect.Grace = t })},
	}
}

// temporary is the setting temporaryPool.
func (d draft) temporary() []netip.Prefix { return list[netip.Prefix](d, "temporaryPool") }
