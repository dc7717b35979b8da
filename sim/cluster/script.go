package cluster

import (
	"context"
	"time"

	"ipamsim/model"
	"ipamsim/sim"
	"ipamsim/sim/cluster/kubeapi"
)

// Entry is one line of the script: at a virtual time, do something.
type Entry struct {
	At time.Duration
	Action
	MayFail bool            // the run is judged even if the action is without effect
	Ref     model.ActionRef // the entry in the history: action.Ref
}

// Action is something that affects the cluster from outside: a machine fails, an operator runs
// a command. Package action lists them.
//
// Do may send messages with the operator's transport. An error is what the
// operator would have seen on the terminal; it is recorded, not fatal.
type Action interface {
	Do(context.Context, *Operator) error
	String() string // as an operator would write it down
}

// Operator is the process that executes the script: it has kubectl's client and can turn machines
// on and off.
type Operator struct {
	Cluster *Cluster
	Client  kubeapi.Client
	Gate    *sim.Gate
	ID      string // the process's name
}

// Background is something that runs by itself during the script.
type Background interface {
	// Start starts its processes, when the cluster's own have been.
	Start(*Cluster)
}

// script runs the entries, then lets the cluster rest, then ends the run.
func (c *Cluster) script(ctx context.Context, g *sim.Gate) error {
	for _, e := range c.Config.Script {
		if d := e.At - c.World.Now(); d > 0 && !kubeapi.Sleep(ctx, d) {
			return ctx.Err()
		}
		c.operate(e)
	}
	if d := c.Config.Until - c.World.Now(); d > 0 && !kubeapi.Sleep(ctx, d) {
		return ctx.Err()
	}
	if c.Config.Settle > 0 {
		if !kubeapi.Sleep(ctx, c.Config.Settle) || c.garbageLeft() && !kubeapi.Sleep(ctx, c.Config.Timers.ContainerGC) {
			return ctx.Err()
		}
		c.Checker.Rested()
	}
	c.World.Finish()
	return nil
}

// operate runs an action in its own process, so that an action that waits for a slow server does
// not delay the script.
func (c *Cluster) operate(e Entry) {
	id := sim.ActorID(c.Name("operator"))
	c.Checker.Record(model.Event{Kind: model.Operator, Actor: string(id), Action: e.Ref, Text: e.String()})
	c.World.Spawn(sim.Process{ID: id, Run: func(ctx context.Context, g *sim.Gate) error {
		err := e.Do(ctx, &Operator{Cluster: c, Client: c.Client(g), Gate: g, ID: string(id)})
		if err != nil {
			c.Checker.Record(model.Event{Kind: model.Operator, Actor: string(id), Action: e.Ref, Text: e.String(), Err: err.Error(), Idle: !e.MayFail && kubeapi.Refused(err)})
		}
		return err
	}})
}
