package calico

import (
	"fmt"
	"time"

	"ipamsim/fuzz/space"
	"ipamsim/scenarios"
	"ipamsim/sim/cluster/action"
)

// nodeByMistake deletes a Node object, and creates it again.
func (c *world) nodeByMistake(at time.Duration) {
	n, back := c.departing()
	if n == "" {
		return
	}
	c.deletes(at, "nodes", n)
	c.At(c.later(at), space.Applied(back))
}

// removeMachine removes a machine from the cluster in the right way: drained first.
func (c *world) removeMachine(at time.Duration) {
	n, _ := c.departing()
	if n == "" {
		return
	}
	c.At(at, scenarios.Event{Action: &action.Drain{Node: n, Force: c.Chance(1, 4)}})
	c.deletes(at+c.Duration(5*time.Second, 30*time.Second), "nodes", n)
}

// departing draws a node whose object is deleted next, at most once, and its manifest; "" if the
// node was drawn before.
func (c *world) departing() (string, object) {
	i := c.Int(len(c.Nodes))
	if n := c.Nodes[i]; !c.Left[n] {
		c.Leave(n)
		return n, c.machine[i]
	}
	return "", nil
}

// newMachine adds a node, and in a third of the cases the pods' first pool gets tunnels while the
// node starts.
func (c *world) newMachine(at time.Duration) {
	c.Came++
	c.addresses += replacedMax
	n := fmt.Sprintf("newcomer-%d", c.Came)
	c.At(at, space.Applied(c.manifest(n, space.Pick(c.Choices, "a", "b"))))
	up := at + c.Duration(time.Millisecond, time.Second)
	c.At(up, scenarios.Event{Action: &action.PowerOn{Node: n}})
	if c.tunnelled() && c.Chance(1, 3) {
		c.merges(up+c.Duration(time.Millisecond, 300*time.Millisecond), ipPools, c.pools[0].name,
			object{"spec": object{"vxlanMode": "Always", "ipipMode": "Never"}})
	}
}

// replacedMax is the number of addresses to leave free before those of later nodes: machines that
// replace others get the addresses after those in use (action.ReplaceNode).
const replacedMax = 8

// relabel moves a node to another rack, as far as the selectors of pools and pods are concerned.
func (c *world) relabel(at time.Duration) {
	c.merges(at, "nodes", c.Node(), object{"metadata": object{"labels": object{"zone": space.Pick(c.Choices, "a", "b")}}})
}

// lose is a machine that is lost with its disk, and whose Node is deleted some time later.
func (c *world) lose(at time.Duration) {
	n, _ := c.departing()
	if n == "" {
		return
	}
	c.At(at, scenarios.Event{Action: &action.Crash{Node: n, Forget: true}})
	c.deletes(c.later(at), "nodes", n)
}

// disturb kills or pauses one of Calico's own processes.
func (c *world) disturb(at time.Duration) {
	actor := space.Pick(c.Choices, "ipam-controller", "tunnel-addresses/"+c.Node())
	if c.Chance(1, 2) {
		c.At(at, scenarios.Event{Action: &action.Kill{Actor: actor}})
		return
	}
	c.At(at, scenarios.Event{Action: &action.Pause{Actor: actor, For: space.Millis(c.Duration(200*time.Millisecond, 20*time.Second))}})
}

// collect starts passes of the collector by hand.
func (c *world) collect(at time.Duration) {
	c.At(at, scenarios.Event{Action: &action.Reconcile{Name: "ipam-gc", Count: space.Pick(c.Choices, 1, 1, 2)}})
}
