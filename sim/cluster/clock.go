package cluster

import (
	"ipamsim/sim"
)

// Clock is the wall clock of a node, or with "" of the machine that deployments
// run on, or nil if no clock of this run ever jumps: a
// process without one sees virtual time as it always was.
func (c *Cluster) Clock(node string) *sim.Clock {
	if !c.Config.ClocksJump {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.clocks[node] == nil {
		c.clocks[node] = &sim.Clock{}
	}
	return c.clocks[node]
}
