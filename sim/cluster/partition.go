package cluster

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"ipamsim/sim/cluster/kubeapi"
)

// Partition cuts a node off from the API server; its containers run on.
type Partition struct {
	Node string          `json:"node" jsonschema:"required"`
	For  metav1.Duration `json:"for,omitzero" unset:"until it is healed"` // default: until healed
}

// Do pulls the network cable.
func (a *Partition) Do(ctx context.Context, o *Operator) error {
	if _, err := o.machine(a.Node); err != nil {
		return err
	}
	o.c.cut(a.Node)
	if a.For.Duration == 0 {
		return nil
	}
	if !kubeapi.Sleep(ctx, a.For.Duration) {
		return ctx.Err()
	}
	o.c.join(a.Node)
	return nil
}

func (a *Partition) String() string { return "network partition of node " + a.Node }

// Machine is the node that it happens to.
func (a *Partition) Machine() string { return a.Node }
