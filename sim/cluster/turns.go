package cluster

import (
	"context"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"ipamsim/model/capacity"
)

// turns lets the kubelets of the whole cluster work on one pod at a time, so that
// what happens is a history of one thing after another, as the reference allocators
// tell it. Who wants at one instant is served in this order: first the DELs of
// sandboxes that were lost with a node's power, then pods that try again, those
// that have waited longest first, then the others, by the age of their pods.
//
// A pod that was refused tries again a fixed time after its last try was due, not
// after it ended, so that tries do not drift: at whole multiples of step, and these
// are when a cluster that is planned in steps has nothing else to do.
type turns struct {
	step  time.Duration // 0: everybody works at once
	queue []*turn
	busy  bool
	born  map[types.UID]int // in which order pods came
	tries int               // there have been
}

// turn is one piece of work that waits.
type turn struct {
	class, key int
	granted    chan struct{}
}

// The classes of turns, in their order.
const (
	turnLost = iota
	turnAgain
	turnOther
)

// gather is how long somebody waits for others that want at the same instant.
const gather = 100 * time.Microsecond

// before is the order in which turns are granted.
func (t *turn) before(o *turn) bool {
	return t.class < o.class || t.class == o.class && t.key < o.key
}

// comes notes a pod's age. Called with mu held.
func (t *turns) comes(uid types.UID) {
	if _, known := t.born[uid]; t.step > 0 && !known {
		t.born[uid] = len(t.born)
	}
}

// turn waits until it is the worker's, who says so by done. It reports false if the
// worker's process is over; then there is nothing to be done with.
func (w *worker) turn(ctx context.Context, class int) bool {
	t := &w.c.turns
	if t.step == 0 {
		return ctx.Err() == nil
	}
	w.c.mu.Lock()
	mine := &turn{class: class, key: w.place(class), granted: make(chan struct{}, 1)}
	t.queue = append(t.queue, mine)
	w.c.mu.Unlock()
	w.done() // with what went before, now that it is known what comes
	look := time.NewTimer(gather)
	defer look.Stop()
	for {
		select {
		case <-mine.granted:
			w.holds = true
			return true
		case <-look.C:
			w.c.mu.Lock()
			t.next()
			w.c.mu.Unlock()
		case <-ctx.Done():
			w.c.mu.Lock()
			defer w.c.mu.Unlock()
			if i := slices.Index(t.queue, mine); i >= 0 {
				t.queue = slices.Delete(t.queue, i, i+1)
			} else { // granted in the same instant
				t.busy = false
				t.next()
			}
			return false
		}
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
	step := c.turns.step
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

// slot is a node's place in a part of a step that is for so many nodes; 0 where
// nobody takes turns.
func (c *Cluster) slot(name string, nodes int) time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := c.nodes[name]
	if n == nil {
		return 0
	}
	return c.turns.step / nodePart * time.Duration(n.number%max(nodes, 1)) / time.Duration(max(nodes, 1))
}

// place is a worker's place among those of a class. Called with mu held.
func (w *worker) place(class int) int {
	if class == turnAgain {
		return w.tried
	}
	return w.c.turns.born[w.pod.UID]
}

// next grants a turn, if nobody has one. Called with mu held.
func (t *turns) next() {
	if t.busy || len(t.queue) == 0 {
		return
	}
	first := 0
	for i := range t.queue {
		if t.queue[i].before(t.queue[first]) {
			first = i
		}
	}
	t.busy = true
	t.queue[first].granted <- struct{}{}
	t.queue = slices.Delete(t.queue, first, first+1)
}

// done ends a worker's turn, if it has one.
func (w *worker) done() {
	if !w.holds {
		return
	}
	w.holds = false
	w.c.mu.Lock()
	defer w.c.mu.Unlock()
	w.c.turns.busy = false
	w.c.turns.next()
}

// again waits until the next try is due.
func (w *worker) again(ctx context.Context) bool {
	t := &w.c.turns
	if t.step == 0 {
		return w.pause(ctx, w.c.Config.Timers.SandboxRetry, w.unwanted)
	}
	w.due += w.c.Config.Timers.SandboxRetry
	return w.pause(ctx, max(0, w.due-w.c.World.Now()), w.unwanted)
}

// tries notes that a worker tries to make a sandbox.
func (w *worker) tries(first bool) {
	w.c.mu.Lock()
	defer w.c.mu.Unlock()
	t := &w.c.turns
	if t.step == 0 {
		return
	}
	t.tries++
	w.tried = t.tries
	if first {
		w.due = w.c.World.Now() / t.step * t.step
	}
}
