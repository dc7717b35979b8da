package cluster

import (
	"context"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"ipamsim/sim/cluster/kubeapi"
)

// Pause stops a process or every process of a node for a while: it keeps what it
// believes (a lease, a list) and wakes later.
type Pause struct {
	Actor string          `json:"actor" jsonschema:"required"` // an actor or a node
	For   metav1.Duration `json:"for,omitzero" unset:"30s"`    // default 30s
}

// Do sends SIGSTOP and, later, SIGCONT.
func (a *Pause) Do(ctx context.Context, o *Operator) error {
	d := a.For.Duration
	if d == 0 {
		d = 30 * time.Second
	}
	o.c.paused(a.Actor, true)
	o.c.w.Pause(a.Actor)
	defer func() {
		o.c.w.Resume(a.Actor)
		o.c.paused(a.Actor, false)
	}()
	if !kubeapi.Sleep(ctx, d) {
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
