package cluster

import (
	"context"
	"time"

	"ipamsim/model/capacity"
	"ipamsim/sim/cluster/turns"
)

// With Config.InTurn the kubelets of the whole cluster work on one pod at a time, so that a
// run is a sequence of complete operations, as in the reference allocators.
//
// A pod that was refused an address retries a fixed time after its last attempt was due, not
// after the attempt ended. So attempts do not drift: they are at whole multiples of the step,
// when a cluster that is planned in steps is otherwise idle.

// turn waits for the worker's turn, which lasts until done. It reports false if the process of
// the worker has ended; then there is no turn.
func (w *worker) turn(ctx context.Context, class turns.Class) bool {
	if w.c.turns.Step == 0 {
		return ctx.Err() == nil
	}
	// The previous turn ends only after the next request is queued.
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

// again waits until the next attempt is due.
func (w *worker) again(ctx context.Context) bool {
	if w.c.turns.Step == 0 {
		return w.pause(ctx, w.c.Config.Timers.SandboxRetry, w.unwanted)
	}
	w.due += w.c.Config.Timers.SandboxRetry
	return w.pause(ctx, max(0, w.due-w.c.World.Now()), w.unwanted)
}

// tries counts an attempt of the worker to create a sandbox.
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

// nodePart divides a step into parts. The daemons of the nodes start one after the other in
// one part: the first part at the start of the run, the last part of a step later.
const nodePart = 16

// startIn is the delay until the daemons of a node that exists from the start begin: one
// node after the other, in the order of their manifests.
func (c *Cluster) startIn(node string) time.Duration { return c.slot(node, len(c.nodes)) }

// restartIn is the delay until a node's daemon that ended starts again.
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

// slot is the offset of a node in a part of a step that nodes share; 0 without turns.
func (c *Cluster) slot(name string, nodes int) time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := c.nodes[name]
	if n == nil {
		return 0
	}
	return c.turns.Step / nodePart * time.Duration(n.number%max(nodes, 1)) / time.Duration(max(nodes, 1))
}
