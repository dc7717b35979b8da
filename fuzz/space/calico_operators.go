package space

import (
	"fmt"
	"strings"
	"time"

	"ipamsim/scenarios"
	"ipamsim/sim/cluster"
)

// errand is one thing that an operator of Calico does.
type errand struct {
	weight int
	do     func(c *calicoWorld, at time.Duration)
}

// ordinary is what operators do to a cluster in which every machine and message is
// well. Some of it is a mistake.
var ordinary = []errand{
	{4, shared((*world).scale)}, {3, shared((*world).deletePod)}, {2, shared((*world).redeploy)}, {2, shared((*world).drain)},
	{4, (*calicoWorld).configure}, {3, (*calicoWorld).editPool}, {1, (*calicoWorld).deletePool}, {2, (*calicoWorld).newPool},
	{3, (*calicoWorld).resizePool}, {1, (*calicoWorld).release}, {2, (*calicoWorld).releaseReport}, {2, (*calicoWorld).deleteBlock},
	{2, (*calicoWorld).deleteAffinity}, {3, (*calicoWorld).nodeByMistake}, {2, (*calicoWorld).removeMachine},
	{3, (*calicoWorld).newMachine}, {1, (*calicoWorld).relabel}, {1, (*calicoWorld).reconfigure}, {1, (*calicoWorld).reserve}, {2, (*calicoWorld).collect},
}

// unkind is what happens to machines and processes.
var unkind = []errand{
	{4, shared((*world).crash)}, {2, shared((*world).reboot)}, {3, shared((*world).replace)}, {3, shared((*world).partition)},
	{2, shared((*world).pause)}, {1, shared((*world).killKubelet)}, {4, (*calicoWorld).lose}, {3, (*calicoWorld).disturb},
}

func shared(f func(*world, time.Duration)) func(*calicoWorld, time.Duration) {
	return func(c *calicoWorld, at time.Duration) { f(c.world, at) }
}

// operators draws what happens from outside, nothing in a quarter of the worlds;
// machines and processes fail only in a world that is to be hurt.
func (c *calicoWorld) operators(hurt bool) {
	all := ordinary
	if hurt {
		all = append(append([]errand{}, unkind...), ordinary...)
	}
	total := 0
	for _, e := range all {
		total += e.weight
	}
	for range Pick(c.Choices, 0, 1, 2, 3) {
		n := c.Int(total)
		for _, e := range all {
			if n -= e.weight; n < 0 {
				e.do(c, c.time())
				break
			}
		}
	}
}

// later is soon after a time, so that one action meets what the other has begun.
func (c *calicoWorld) later(at time.Duration) time.Duration {
	return at + c.Duration(time.Millisecond, 10*time.Second)
}

func (c *calicoWorld) types(at time.Duration, format string, args ...any) {
	c.at(at, scenarios.Event{Command: &cluster.Command{Run: fmt.Sprintf(format, args...)}})
}

func (c *calicoWorld) deletes(at time.Duration, resource, name string) {
	c.at(at, scenarios.Event{Delete: &cluster.Delete{Resource: resource, Name: name}})
}

func (c *calicoWorld) merges(at time.Duration, resource, name string, patch object) {
	c.at(at, scenarios.Event{Patch: &cluster.Patch{Resource: resource, Name: name, Merge: patch}})
}

// configure switches strict affinity, and back later in half of the cases.
func (c *calicoWorld) configure(at time.Duration) {
	strict := c.Chance(2, 3)
	limit := ""
	if strict && c.Chance(1, 3) {
		limit = fmt.Sprintf(" --max-blocks-per-host=%d", c.Between(1, 3))
	}
	c.types(at, "calicoctl ipam configure --strictaffinity=%v%s", strict, limit)
	if c.Chance(1, 2) {
		c.types(c.later(at), "calicoctl ipam configure --strictaffinity=%v --max-blocks-per-host=0", !strict)
	}
}

// release frees one address by hand, whether it is in use or not.
func (c *calicoWorld) release(at time.Duration) {
	c.types(at, "calicoctl ipam release --ip=%s", c.address(c.anyPool()))
}

// releaseReport frees what a check, somewhat earlier, took for leaked.
func (c *calicoWorld) releaseReport(at time.Duration) {
	c.types(at, "calicoctl ipam check --output=report")
	c.types(c.later(at), "calicoctl ipam release --from-report=report --force")
}

// The kinds of which the allocator's record is made, as kubectl knows them.
const (
	blocks     = "ipamblocks.crd.projectcalico.org"
	affinities = "blockaffinities.crd.projectcalico.org"
)

// deleteBlock takes a block away by hand, in half of the cases with the affinity
// of one of the nodes, as the repair of seeds/000 does.
func (c *calicoWorld) deleteBlock(at time.Duration) {
	b := c.block(c.anyPool())
	c.deletes(at, blocks, dashed(b.String()))
	if c.Chance(1, 2) {
		c.deletes(c.later(at), affinities, c.node()+"-"+dashed(b.String()))
	}
}

// deleteAffinity takes a node's affinity for a block away by hand.
func (c *calicoWorld) deleteAffinity(at time.Duration) {
	c.deletes(at, affinities, c.node()+"-"+dashed(c.block(c.anyPool()).String()))
}

// dashed is a prefix in the name of an object: 10-64-75-0-30.
//
// Source: libcalico-go/lib/names/cidr.go, CIDRToName (v3.31).
func dashed(prefix string) string {
	return strings.NewReplacer(".", "-", ":", "-", "/", "-").Replace(prefix)
}
