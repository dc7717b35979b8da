package action

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"ipamsim/sim"
	"ipamsim/sim/cluster"
)

// Terminate asks a process to end, as Kubernetes does with a container whose pod is deleted:
// SIGTERM, and SIGKILL if it has not ended after the grace period. A process without a handler
// of its own ends immediately.
type Terminate struct {
	Actor string          `json:"actor" jsonschema:"required"`
	Grace metav1.Duration `json:"grace,omitzero" unset:"30s"` // default 30s
}

// graceDefault is that of pods.
const graceDefault = 30 * time.Second

// Do returns when the process has ended.
func (a *Terminate) Do(ctx context.Context, o *cluster.Operator) error {
	for _, other := range []string{"kubelet/", "kube-apiserver"} {
		if strings.HasPrefix(a.Actor, other) {
			return fmt.Errorf("%s: its graceful shutdown is not simulated: kill it", a.Actor)
		}
	}
	id, alive := o.Cluster.Process(a.Actor)
	if !alive {
		return o.Cluster.Kill(ctx, sim.ActorID(a.Actor)) // which lists the processes that there are
	}
	p := o.Cluster.World.Terminate(id)
	t := time.NewTimer(cmp.Or(a.Grace.Duration, graceDefault))
	defer t.Stop()
	select {
	case <-p.Done():
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
	}
	o.Cluster.World.Kill(id)
	return nil
}

func (a *Terminate) String() string { return "terminate " + a.Actor }
