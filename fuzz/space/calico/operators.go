package calico

import (
	"fmt"
	"strings"
	"time"

	"ipamsim/fuzz/space"
	"ipamsim/scenarios"
	"ipamsim/sim/cluster/action"
)

// errand is an action of an operator of Calico.
type errand struct {
	weight int
	do     func(c *world, at time.Duration)
}

// ordinary are the actions of operators in a cluster without failures of machines and messages. Some are
// mistakes.
var ordinary = []errand{
	{4, shared((*space.World).Scale)}, {3, shared((*space.World).DeletePod)}, {2, shared((*space.World).Redeploy)}, {2, shared((*space.World).Drain)},
	{4, (*world).configure}, {3, (*world).editPool}, {1, (*world).deletePool}, {2, (*world).newPool},
	{3, (*world).resizePool}, {1, (*world).release}, {2, (*world).releaseReport}, {2, (*world).deleteBlock},
	{2, (*world).deleteAffinity}, {3, (*world).nodeByMistake}, {2, (*world).removeMachine},
	{3, (*world).newMachine}, {1, (*world).relabel}, {1, (*world).reconfigure}, {1, (*world).reserve}, {2, (*world).collect},
}

// unkind are failures of machines and processes.
var unkind = []errand{
	{4, shared((*space.World).Crash)}, {2, shared((*space.World).Reboot)}, {3, shared((*space.World).Replace)}, {3, shared((*space.World).Partition)},
	{2, shared((*space.World).Pause)}, {1, shared((*space.World).KillKubelet)}, {4, (*world).lose}, {3, (*world).disturb},
}

func shared(f func(*space.World, time.Duration)) func(*world, time.Duration) {
	return func(c *world, at time.Duration) { f(c.World, at) }
}

// operators draws actions from outside: none in a quarter of the worlds. Machines and processes
// fail only if hurt is true.
func (c *world) operators(hurt bool) {
	all := ordinary
	if hurt {
		all = append(append([]errand{}, unkind...), ordinary...)
	}
	total := 0
	for _, e := range all {
		total += e.weight
	}
	for range space.Pick(c.Choices, 0, 1, 2, 3) {
		n := c.Int(total)
		for _, e := range all {
			if n -= e.weight; n < 0 {
				e.do(c, c.Time())
				break
			}
		}
	}
}

// later draws a time soon after another one, for an action that interferes with an earlier one.
func (c *world) later(at time.Duration) time.Duration {
	return at + c.Duration(time.Millisecond, 10*time.Second)
}

func (c *world) types(at time.Duration, format string, args ...any) {
	c.At(at, scenarios.Event{Action: &action.Command{Run: fmt.Sprintf(format, args...)}})
}

func (c *world) deletes(at time.Duration, resource, name string) {
	c.At(at, scenarios.Event{Action: &action.Delete{Resource: resource, Name: name}})
}

func (c *world) merges(at time.Duration, resource, name string, patch object) {
	c.At(at, scenarios.Event{Action: &action.Patch{Resource: resource, Name: name, Merge: patch}})
}

// configure switches strict affinity, and switches it back later in half of the cases.
func (c *world) configure(at time.Duration) {
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

// release releases one address by hand, whether it is in use or not.
func (c *world) release(at time.Duration) {
	c.types(at, "calicoctl ipam release --ip=%s", c.address(c.anyPool()))
}

// releaseReport releases the addresses that an earlier check reported as leaked.
func (c *world) releaseReport(at time.Duration) {
	c.types(at, "calicoctl ipam check --output=report")
	c.types(c.later(at), "calicoctl ipam release --from-report=report --force")
}

// The resources of the allocator's record, for kubectl.
const (
	blocks     = "ipamblocks.crd.projectcalico.org"
	affinities = "blockaffinities.crd.projectcalico.org"
)

// deleteBlock deletes a block by hand, in half of the cases with the affinity of one of the nodes,
// like the repair in seeds/000.
func (c *world) deleteBlock(at time.Duration) {
	b := c.block(c.anyPool())
	c.deletes(at, blocks, dashed(b.String()))
	if c.Chance(1, 2) {
		c.deletes(c.later(at), affinities, c.Node()+"-"+dashed(b.String()))
	}
}

// deleteAffinity deletes a node's affinity for a block by hand.
func (c *world) deleteAffinity(at time.Duration) {
	c.deletes(at, affinities, c.Node()+"-"+dashed(c.block(c.anyPool()).String()))
}

// dashed returns a prefix in the form of an object's name: 10-64-75-0-30.
//
// Source: libcalico-go/lib/names/cidr.go, CIDRToName (v3.31).
func dashed(prefix string) string {
	return strings.NewReplacer(".", "-", ":", "-", "/", "-").Replace(prefix)
}
