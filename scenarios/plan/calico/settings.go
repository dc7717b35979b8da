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
		{Name: "pool", Means: "CIDRs of the existing IPPools", Type: poolAddresses()},
		{Name: "addPool", Means: "additional IPPools; unset fields are those of the first pool of the family", Type: newPools()},
		{Name: "resizePool", Means: "prefix lengths of IPPools, with the same first address", Type: poolSizes()},
		{Name: "removePool", Means: "IPPools to remove", Type: poolNames()},
		{Name: "poolSize", Means: "prefix length of the only IPPool, or the first of pool, with the same first address", Type: values.Whole(8, 124)},
		{Name: "blockSize", Means: "prefix length of the blocks of a family's enabled IPPools, or of one; 26 is 64 addresses", Type: blockLengths()},
		{Name: "temporaryPool", Means: "temporary range for the pods of a running cluster while a pool is rebuilt; default: out of 100.64.0.0/10 or fdff::/16", Type: values.CIDRs(1)},
		{Name: "restartPods", Means: "restart all pods of a running cluster once, after the other changes of an option", Type: values.Flag()},
		{Name: "restartEvery", Means: "time between two pod restarts during a migration; default: 10s",
			Type: plan.Into(values.Time(2*time.Second), func(d *plan.Draft, t time.Duration) { d.RestartEvery = t })},
		{Name: "strictAffinity", Means: "IPAMConfig: a node never borrows from another node's block", Type: values.Flag()},
		{Name: "autoAllocateBlocks", Means: "IPAMConfig: a node claims further blocks automatically", Type: values.Flag()},
		{Name: "maxBlocksPerHost", Means: "IPAMConfig: maximum number of blocks per node; 0 is upstream's 20", Type: values.Whole(0, 10_000)},
		{Name: "datastore", Means: "Calico's datastore", About: plan.OfCluster,
			Type: plan.Into(values.Word(kubernetesDatastore, etcdDatastore), func(d *plan.Draft, s string) { d.Datastore = s })},
		{Name: "topology", Means: "BGP topology", About: plan.OfCluster,
			Type: plan.Into(values.Word(route.Mesh, route.Reflectors, route.ToR), func(d *plan.Draft, s string) { d.Topology = s })},
		{Name: "grace", Means: "leakGracePeriod: how long the collector waits before it releases a leaked address; default: 15m", About: plan.OfUpkeep,
			Type: plan.Into(values.TimeOrNever(), func(d *plan.Draft, t time.Duration) { d.Collect.Grace = t })},
	}
}

// temporary is the setting temporaryPool.
func (d draft) temporary() []netip.Prefix { return list[netip.Prefix](d, "temporaryPool") }
