// Package calico has the known races and the migration steps of Calico for answers of plans.
package calico

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"ipamsim/model"
	"ipamsim/model/capacity"
	"ipamsim/model/capacity/calico"
	"ipamsim/model/capacity/workload"
	reference "ipamsim/model/reference/calico"
	"ipamsim/reports/answer"
)

// Answers configures answers for Calico. It minimises routes: each costs memory on every router.
var Answers = answer.Manager{Minimise: "routes", Changes: changes, Step: step}

var changes = []answer.Known{
	{Change: answer.CollectorOn, Words: "lets calico-kube-controllers collect garbage",
		Made: func(a, b *capacity.Cluster) bool { return a.Collect.Every == 0 && collects(b) }, Rows: []answer.Follows{
			{Scenario: "found-calico-deleted-node-lives"}, {Scenario: "found-calico-lagging-cache"}, {Scenario: "calico-12257-stale-node-name"},
			{Scenario: "found-calico-etcd-node-deletion", Of: onEtcd}, {Scenario: "found-calico-node-deletion-repeated", Of: onEtcd}, {Scenario: "found-calico-half-release", Of: onEtcd},
			{Scenario: "calico-12741-tombstone"}, {Scenario: "found-calico-gc-spins"}, {Scenario: "calico-5044-half-reported", Of: dual}, {Scenario: "calico-7839-leftover-handle"},
			{Scenario: "found-calico-borrower-loses-the-block", Of: borrows},
		}},
	{Change: answer.PassesOftener, Words: "collects garbage more often (by a shorter leakGracePeriod, the only setting, so it also releases sooner)",
		Made: func(a, b *capacity.Cluster) bool { return a.Collect.Every > 0 && answer.Oftener(a, b) }, Rows: sooner},
	{Change: answer.ReleaseSooner, Words: "releases after a shorter time",
		Made: func(a, b *capacity.Cluster) bool { return collects(a) && collects(b) && grace(b) < grace(a) }, Rows: sooner},
	{Change: answer.StrictOff, Words: "switches strict affinity off",
		Made: func(a, b *capacity.Cluster) bool { return !borrows(a) && borrows(b) }, Rows: []answer.Follows{
			{Scenario: "found-calico-borrower-loses-the-block", Of: collects},
		}},
	{Change: answer.BlocksLimited, Words: "limits the blocks of a node",
		Made: func(a, b *capacity.Cluster) bool { return blocks(b) < blocks(a) }, Rows: []answer.Follows{
			{Scenario: "found-calico-limit-race", Of: tunnels},
			{Scenario: "found-calico-limit-per-pools", Of: func(c *capacity.Cluster) bool { return len(calico.Of(c).Pools) > 1 }},
		}},
	{Change: answer.OnEtcd, Words: "uses the etcdv3 datastore",
		Made: func(a, b *capacity.Cluster) bool { return !onEtcd(a) && onEtcd(b) }, Rows: []answer.Follows{
			{Scenario: "found-calico-etcd-node-deletion", Of: collects}, {Scenario: "found-calico-node-deletion-repeated", Of: collects}, {Scenario: "found-calico-half-release", Of: collects},
			{Scenario: "found-calico-asked-address-taken"},
		}},
	{Change: answer.PoolsChange, Words: "changes IPPools of a running cluster with tunnels",
		Made: func(a, b *capacity.Cluster) bool {
			return (tunnels(a) || tunnels(b)) && slices.ContainsFunc(b.Migration, ofPool)
		}, Rows: []answer.Follows{
			{Scenario: "found-calico-tunnel-change-forgotten"}, {Scenario: "found-calico-tunnel-address-freed-first"},
		}},
}

// sooner is what follows when leaks and empty blocks are released sooner.
var sooner = []answer.Follows{
	{Scenario: "calico-12257-stale-node-name"}, {Scenario: "found-calico-half-release", Of: onEtcd}, {Scenario: "found-calico-gc-spins"}, {Scenario: "calico-5044-half-reported", Of: dual},
}

func onEtcd(c *capacity.Cluster) bool   { return calico.Of(c).Datastore != reference.Kubernetes }
func borrows(c *capacity.Cluster) bool  { return !calico.Of(c).Settings.Strict }
func dual(c *capacity.Cluster) bool     { return calico.Of(c).V4 && calico.Of(c).V6 }
func collects(c *capacity.Cluster) bool { return c.Collect.Every > 0 }

// blocks is how many a node may have.
func blocks(c *capacity.Cluster) int {
	return cmp.Or(max(calico.Of(c).Settings.MaxBlocks, 0), model.MaxBlocksDefault)
}

// tunnels reports whether nodes have addresses for devices.
func tunnels(c *capacity.Cluster) bool {
	return calico.Of(c).Tunnels && slices.ContainsFunc(calico.Of(c).Pools, func(p reference.Pool) bool { return p.IPIP || p.VXLAN })
}

func ofPool(s workload.Step) bool {
	return s.Kind == calico.CreatePool || s.Kind == calico.DisablePool || s.Kind == calico.DeletePool
}

// grace returns the leak grace period; the maximum duration if the collector releases nothing.
func grace(c *capacity.Cluster) time.Duration {
	if c.Collect.Grace < 0 {
		return 1<<63 - 1
	}
	return cmp.Or(c.Collect.Grace, calico.GraceDefault)
}

// step renders a migration step as an instruction.
func step(s *workload.Step) string {
	change, _ := s.Change.(calico.Change)
	switch s.Kind {
	case calico.CreatePool:
		return fmt.Sprintf("create IPPool %s, %s in blocks of /%d", s.Pool, s.CIDR, s.BlockBits)
	case calico.DisablePool:
		return "disable IPPool " + s.Pool
	case calico.DeletePool:
		return "delete IPPool " + s.Pool
	case calico.Configure:
		return fmt.Sprintf("set IPAMConfig: strictAffinity %t, autoAllocateBlocks %t, maxBlocksPerHost %d", change.Settings.Strict, change.Settings.AutoAllocate, change.Settings.MaxBlocks)
	case calico.TypeAffinities:
		what := "BlockAffinities"
		if len(change.Affinities) == 1 {
			what = "BlockAffinity"
		}
		return fmt.Sprintf("set spec.type: host in the %d %s of these pools that lack it (an older Calico wrote them; without it v3.31 does not release their blocks)", len(change.Affinities), what)
	}
	return string(s.Kind)
}
