package cluster

import (
	"context"
	"time"

	"ipamsim/model/capacity"
	"ipamsim/sim/cluster/turns"
)

// The kubelets of the whole cluster may work on one pod at a time (Config.InTurn), so that
// what happens is a history of one thing after another, as the reference allocators tell it.
//
// A pod that was refused tries again a fixed time after its last try was due, not
// after it ended, so that tries do not drift: at whole multiples of the step, and these
// are when a cluster that is planned in steps has nothing else to do.

// turn waits until it is the worker's, who says so by done. It reports false if the
// worker's process is over; then there is nothing to be done with.
func (w *worker) turn(ctx context.Context, class turns.Class) bool {
	if w.c.turns.Step == 0 {
		return ctx.Err() == nil
	}
	// With what went before it is done when it is known what comes.
	w.holds = w.c.turns.Wait(ctx, class, w.pod.UID, w.tried, w.done)
	return w.holds
}

// done ends a worker's turn, if it has one.
func (w *worker) done() {
	if w.holds {
		w.holds = false
		w.c.turns.Done()
	}
}

// again waits until the next try is due.
func (w *worker) again(ctx context.Context) bool {
	if w.c.turns.Step == 0 {
		return w.pause(ctx, w.c.Config.Timers.SandboxRetry, w.unwanted)
	}
	w.due += w.c.Config.Timers.SandboxRetry
	return w.pause(ctx, max(0, w.due-w.c.World.Now()), w.unwanted)
}

// tries notes that a worker tries to make a sandbox.
func (w *worker) tries(first bool) {
	step := w.c.turns.Step
	if step == 0 {
		return
	}
	w.tried = w.c.turns.Tries()
	if first {
		w.due = w.c.World.Now() / step * step
	}
}

// nodePart is the part of a step in which nodes' own processes begin one after the
// other: its first at the start, later on its last.
const nodePart = 16

// startIn is when the daemons of a node begin that is there from the start: one node
// after the other, in the order of their manifests.
func (c *Cluster) startIn(node string) time.Duration { return c.slot(node, len(c.nodes)) }

// restartIn is when a node's daemon that ended begins again.
func (c *Cluster) restartIn(node string) time.Duration {
	step := c.turns.Step
	if step == 0 {
		return restartAfter
	}
	now := c.World.Now()
	at := now/step*step + step/nodePart*(nodePart-1) + c.slot(node, capacity.Restarts)
	if at <= now {
		at += step
	}
	return at - now
}

// slot is a node's place in a part of a step that is for so many nodes; 0 without turns.
func (c *Cluster) slot(name string, nodes int) time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := c.nodes[name]
	if n == nil {
		return 0
	}
	return c.turns.Step / nodePart * time.Duration(n.number%max(nodes, 1)) / time.Duration(max(nodes, 1))
}
