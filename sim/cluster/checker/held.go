package checker

import (
	"time"

	"ipamsim/sim"
	"ipamsim/sim/kube/answer"
	"ipamsim/sim/way"
)

// hold notes until when a process was kept from its work, if it is a daemon of the
// manager's on a node. Called with mu held.
func (c *Checker) hold(id sim.ActorID, until time.Duration) {
	node := c.upstream[id]
	if node == "" || !background(id) || until <= c.held[node] {
		return
	}
	c.held[node] = until
	if c.routing != nil && len(c.routing.net.Losses()) > 0 {
		c.changed = true // they are checked at another time now
	}
}

// holdWaiting holds those that wait for a message that takes long. Called with mu held.
func (c *Checker) holdWaiting() {
	if c.routing == nil || len(c.routing.net.Losses()) == 0 {
		return
	}
	var waiting []sim.ActorID
	c.w.Waits(func(op sim.Op) bool {
		if c.long(op) {
			waiting = append(waiting, op.Actor)
		}
		return false
	})
	for _, id := range waiting {
		c.hold(id, c.w.Now())
	}
}

// unanswered is for how long a process waits for the answer to a request that was hurt.
func unanswered(c *sim.Choice) time.Duration {
	if c.Op.Ways(c.Outcome) == 0 {
		return 0
	}
	return answer.Longest(c.Op.Kind, way.Way(c.Level))
}
