package action

import (
	"cmp"
	"context"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"ipamsim/sim/cluster"
	"ipamsim/sim/cluster/kubeapi"
)

// Pause stops a process or every process of a node for a while: it keeps what it
// believes (a lease, a list) and wakes later.
type Pause struct {
	Actor string          `json:"actor" jsonschema:"required"` // an actor or a node
	For   metav1.Duration `json:"for,omitzero" unset:"30s"`    // default 30s
}

// Do sends SIGSTOP and, later, SIGCONT.
func (a *Pause) Do(ctx context.Context, o *cluster.Operator) error {
	resume := o.Cluster.Paused(a.Actor)
	slept := kubeapi.Sleep(ctx, cmp.Or(a.For.Duration, 30*time.Second))
	if err := resume(); err != nil || slept {
		return err
	}
	return ctx.Err()
}

func (a *Pause) String() string { return "pause " + a.Actor }
