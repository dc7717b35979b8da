package cluster

import (
	"context"
	"fmt"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"ipamsim/sim"
)

// Kill ends one process at once, by its actor's name.
type Kill struct {
	Actor string `json:"actor" jsonschema:"required"`
}

// Do sends SIGKILL. A kubelet comes back; without one its node would be healthy
// and start nothing for ever, which no address manager can be blamed for.
func (a *Kill) Do(ctx context.Context, o *Operator) error {
	if !o.c.w.Kill(sim.ActorID(a.Actor)) {
		return fmt.Errorf("no process %q", a.Actor)
	}
	name, _ := strings.CutPrefix(a.Actor, "kubelet/")
	if n := o.c.node(name); n != nil && name != a.Actor && n.kubelet != nil {
		return n.kubelet.restart(ctx)
	}
	return nil
}

func (a *Kill) String() string { return "kill -9 " + a.Actor }

// Pause stops a process or every process of a node for a while: it keeps what it
// believes (a lease, a list) and wakes later.
type Pause struct {
	Actor string          `json:"actor" jsonschema:"required"` // an actor or a node
	For   metav1.Duration `json:"for,omitempty"`               // default 30s
}

// Do sends SIGSTOP and, later, SIGCONT.
func (a *Pause) Do(ctx context.Context, o *Operator) error {
	d := a.For.Duration
	if d == 0 {
		d = 30 * time.Second
	}
	o.c.paused(a.Actor, true)
	o.c.w.Hold(a.Actor)
	defer func() {
		o.c.w.Release(a.Actor)
		o.c.paused(a.Actor, false)
	}()
	if !sleep(ctx, d) {
		return ctx.Err()
	}
	return nil
}

func (a *Pause) String() string { return "pause " + a.Actor }

func (c *Cluster) paused(node string, on bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if n := c.nodes[node]; n != nil {
		n.state.Paused, n.state.Since = on, c.w.Now()
	}
}

// Reconcile starts passes of a reconciler now, all at once.
type Reconcile struct {
	Name  string `json:"name" jsonschema:"required"`
	Node  string `json:"node,omitempty"`
	Count int    `json:"count,omitempty"` // default 1
}

// Do starts them.
func (a *Reconcile) Do(_ context.Context, o *Operator) error {
	r, err := o.c.reconciler(a.Name)
	if err != nil {
		return err
	}
	for range max(a.Count, 1) {
		o.c.reconcile(r, a.Node)
	}
	return nil
}

func (a *Reconcile) String() string { return "start " + a.Name }
