package cluster

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"ipamsim/sim"
)

// ClockJump sets the wall clock of a machine forward or back, as when NTP corrects
// it. Every process of it sees the new time at once; what they measure and wait
// for goes on as before. It needs the hermetic runtime.
type ClockJump struct {
	Node string          `json:"node,omitempty"` // default: the machine that the manager's deployments run on
	By   metav1.Duration `json:"by"`             // forward
	Back bool            `json:"back,omitempty"` // back instead
}

// Do sets it.
func (a *ClockJump) Do(_ context.Context, o *Operator) error {
	if a.Node != "" && o.c.node(a.Node) == nil {
		return fmt.Errorf("no node %q", a.Node)
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
	whose := "node " + a.Node
	if a.Node == "" {
		whose = "the controllers' machine"
	}
	return fmt.Sprintf("the clock of %s jumps %s by %v", whose, way, a.By.Duration)
}

// clock is the wall clock of a node, or with "" of the machine that deployments
// run on, or nil if no clock of this run ever jumps: a
// process without one sees virtual time as it always was.
func (c *Cluster) clock(node string) *sim.Clock {
	if !c.clocksJump() {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.clocks[node] == nil {
		c.clocks[node] = &sim.Clock{}
	}
	return c.clocks[node]
}

// clocksJump reports whether a clock may jump in this run.
func (c *Cluster) clocksJump() bool {
	for _, e := range c.cfg.Script {
		if _, ok := e.Action.(*ClockJump); ok {
			return true
		}
	}
	return c.cfg.Hazards.has(ClockJumps)
}
