package action

import (
	"context"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"ipamsim/sim/cluster"
)

// Second runs a daemon that is a deployment once more beside the one that runs:
// a rolling update that starts the new one first, a leader that did not notice
// its end.
type Second struct {
	Daemon string          `json:"daemon" jsonschema:"required"`
	For    metav1.Duration `json:"for,omitzero" unset:"to the end"` // default: to the end
}

// Do starts it and, later, kills it.
func (a *Second) Do(ctx context.Context, o *cluster.Operator) error {
	p, err := o.Cluster.Second(a.Daemon)
	if err != nil {
		return err
	}
	if a.For.Duration == 0 {
		return nil
	}
	t := time.NewTimer(a.For.Duration)
	defer t.Stop()
	select {
	case <-t.C:
		o.Cluster.World.Kill(p.ID)
	case <-p.Done():
	case <-ctx.Done():
	}
	return ctx.Err()
}

func (a *Second) String() string {
	return "start a second " + a.Daemon
}
