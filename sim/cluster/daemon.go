package cluster

import (
	"context"
	"errors"
	"fmt"
	"path"
	"time"

	"ipamsim/model"
	"ipamsim/sim"
	"ipamsim/sim/cluster/kubeapi"
	"ipamsim/sim/ipam"
)

// restartAfter is how soon a daemon that exited is started again: kubelet's
// first crash-loop back-off.
const restartAfter = 10 * time.Second

// process is a process of the manager and its code.
type process struct {
	ipam.Process
	Run ipam.Run
}

// startDaemon runs one of the manager's daemons, on a node or, with node "", as
// a deployment of one. One that exits or is killed comes back, unless its node
// lost power.
func (c *Cluster) startDaemon(r process, node string) { c.startDaemonAfter(r, node, 0) }

// startDaemonAfter is startDaemon of one that begins a while later.
func (c *Cluster) startDaemonAfter(r process, node string, wait time.Duration) {
	name := path.Join(r.Name, node)
	id := sim.ActorID(c.Name(name))
	a := c.spawnUpstream(id, node, func(ctx context.Context, g *sim.Gate) error {
		if wait > 0 && !kubeapi.Sleep(ctx, wait) {
			return ctx.Err()
		}
		return r.Run(ctx, g, node)
	})
	c.World.Spawn(sim.Process{ID: sim.ActorID(c.Name("supervisor/" + name)), Group: node, Run: func(ctx context.Context, g *sim.Gate) error {
		select {
		case <-a.Done():
		case <-ctx.Done():
			return ctx.Err()
		}
		e := model.Event{Kind: model.Exited, Actor: string(id), Node: node, Disturbed: a.Asked() || errors.Is(a.Err(), sim.ErrKilled) || errors.Is(a.Err(), sim.ErrGoexit)}
		if err := a.Err(); err != nil {
			e.Err = err.Error()
		}
		c.Checker.Record(e)
		if kubeapi.Sleep(ctx, c.restartIn(node)) {
			c.startDaemon(r, node)
		}
		return nil
	}})
}

// Reconcile starts one pass of a reconciler in its own process.
func (c *Cluster) Reconcile(name, node string) (*sim.Actor, error) {
	r, err := c.reconciler(name)
	if err != nil {
		return nil, err
	}
	id := sim.ActorID(c.Name(path.Join(r.Name, node)))
	c.Checker.Record(model.Event{Kind: model.Reconcile, Actor: string(id), Node: node})
	return c.spawnUpstream(id, node, func(ctx context.Context, g *sim.Gate) error {
		err := r.Run(ctx, g, node)
		e := model.Event{Kind: model.Reconciled, Actor: string(id), Node: node}
		if err != nil {
			e.Err = err.Error()
		}
		c.Checker.Record(e)
		return err
	}), nil
}

func (c *Cluster) reconciler(name string) (process, error) {
	r, ok := c.procs[name]
	if !ok {
		return r, fmt.Errorf("%s has no reconciler %q", c.Config.Manager.Name, name)
	}
	return r, nil
}

// Second starts a daemon that is a deployment once more beside the one that runs.
func (c *Cluster) Second(daemon string) (*sim.Actor, error) {
	r, err := c.reconciler(daemon)
	if err != nil {
		return nil, err
	}
	id := sim.ActorID(c.Name(daemon))
	return c.spawnUpstream(id, "", func(ctx context.Context, g *sim.Gate) error { return r.Run(ctx, g, "") }), nil
}
