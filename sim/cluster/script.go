package cluster

import (
	"context"
	"fmt"
	"time"

	"ipamsim/model"
	"ipamsim/sim"
	"ipamsim/sim/cluster/kubeapi"
)

// Entry is one line of the script: at a virtual time, do something.
type Entry struct {
	At time.Duration
	Action
}

// Action is something that happens to the cluster from outside: a machine fails,
// an operator types a command. scenarios.Event lists them.
//
// Do may send messages through the operator's door. An error is what the
// operator would have seen on the terminal; it is recorded, not fatal.
type Action interface {
	Do(context.Context, *Operator) error
	String() string // as an operator would write it down
}

// OnMachine is an action that happens to one node: that is all there is to be checked of
// it before a run.
type OnMachine interface {
	Action
	Machine() string
}

// Operator is who the script acts as: kubectl's way in, and a hand on the
// machines' power buttons.
type Operator struct {
	c      *Cluster
	client kubeapi.Client
	gate   *sim.Gate
	id     string // the process's name
}

// script runs the entries, then lets the cluster rest, then ends the run.
func (c *Cluster) script(ctx context.Context, g *sim.Gate) error {
	for _, e := range c.cfg.Script {
		if d := e.At - c.w.Now(); d > 0 && !kubeapi.Sleep(ctx, d) {
			return ctx.Err()
		}
		c.operate(e.Action)
	}
	if d := c.cfg.Until - c.w.Now(); d > 0 && !kubeapi.Sleep(ctx, d) {
		return ctx.Err()
	}
	if c.cfg.Settle > 0 {
		if !kubeapi.Sleep(ctx, c.cfg.Settle) {
			return ctx.Err()
		}
		c.mu.Lock()
		c.rested = true
		c.mu.Unlock()
	}
	c.w.Finish()
	return nil
}

// operate runs an action as a process of its own, so that one that waits for a
// slow server does not hold up the script's clock.
func (c *Cluster) operate(a Action) {
	id := sim.ActorID(c.unique("operator"))
	c.record(model.Event{Kind: model.Operator, Actor: string(id), Deed: deed(a), Text: a.String()})
	c.w.Spawn(sim.Process{ID: id, Run: func(ctx context.Context, g *sim.Gate) error {
		err := a.Do(ctx, &Operator{c: c, client: kubeapi.New(c.api.Door(g)), gate: g, id: string(id)})
		if err != nil {
			c.record(model.Event{Kind: model.Operator, Actor: string(id), Deed: deed(a), Text: a.String(), Err: err.Error()})
		}
		return err
	}})
}

func (o *Operator) machine(name string) (*node, error) {
	n := o.c.node(name)
	if n == nil {
		return nil, fmt.Errorf("no node %q", name)
	}
	return n, nil
}
