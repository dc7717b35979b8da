package cluster

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"ipamsim/sim"
)

// ClockJump sets the wall clock of a node forward or back, as when NTP corrects
// it. Every process of the node sees the new time at once; what they measure and
// wait for goes on as before. It needs the hermetic runtime.
type ClockJump struct {
	Node string          `json:"node" jsonschema:"required"`
	By   metav1.Duration `json:"by"`             // forward
	Back bool            `json:"back,omitempty"` // back instead
}

// Do sets it.
func (a *ClockJump) Do(_ context.Context, o *Operator) error {
	if _, err := o.machine(a.Node); err != nil {
		return err
	}
	by := a.By.Duration
	if a.Back {
		by = -by
	}
	o.c.clock(a.Node).Jump(by)
	return nil
}

func (a *ClockJump) String() string {
	way := "forward"
	if a.Back {
		way = "back"
	}
	return fmt.Sprintf("the clock of node %s jumps %s by %v", a.Node, way, a.By.Duration)
}

// clock is the wall clock of a node, or nil if no clock of this run ever jumps: a
// process without one sees virtual time as it always was.
func (c *Cluster) clock(node string) *sim.Clock {
	if node == "" || !c.clocksJump() {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.clocks[node] == nil {
		c.clocks[node] = &sim.Clock{}
	}
	return c.clocks[node]
}

// clocksJump reports whether a node's clock may jump in this run.
func (c *Cluster) clocksJump() bool {
	for _, e := range c.cfg.Script {
		if _, ok := e.Action.(*ClockJump); ok {
			return true
		}
	}
	return c.cfg.Hazards.has(ClockJumps)
}
