package cluster

import (
	"context"
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
	id := sim.ActorID(c.unique(name))
	a := c.spawnUpstream(id, node, func(ctx context.Context, g *sim.Gate) error {
		if wait > 0 && !kubeapi.Sleep(ctx, wait) {
			return ctx.Err()
		}
		return r.Run(ctx, g, node)
	})
	c.w.Spawn(sim.Process{ID: sim.ActorID(c.unique("supervisor/" + name)), Group: node, Run: func(ctx context.Context, g *sim.Gate) error {
		select {
		case <-a.Done():
		case <-ctx.Done():
			return ctx.Err()
		}
		e := model.Event{Kind: model.Reconciled, Actor: string(id), Node: node, Text: "daemon ended"}
		if err := a.Err(); err != nil {
			e.Err = err.Error()
		}
		c.record(e)
		if kubeapi.Sleep(ctx, c.restartIn(node)) {
			c.startDaemon(r, node)
		}
		return nil
	}})
}

// reconcile starts one pass of a reconciler as a process of its own.
func (c *Cluster) reconcile(r process, node string) *sim.Actor {
	id := sim.ActorID(c.unique(path.Join(r.Name, node)))
	c.record(model.Event{Kind: model.Reconcile, Actor: string(id), Node: node})
	return c.spawnUpstream(id, node, func(ctx context.Context, g *sim.Gate) error {
		err := r.Run(ctx, g, node)
		e := model.Event{Kind: model.Reconciled, Actor: string(id), Node: node}
		if err != nil {
			e.Err = err.Error()
		}
		c.record(e)
		return err
	})
}

func (c *Cluster) reconciler(name string) (process, error) {
	r, ok := c.procs[name]
	if !ok {
		return r, fmt.Errorf("%s has no reconciler %q", c.cfg.Manager.Name, name)
	}
	return r, nil
}
