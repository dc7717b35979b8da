package action

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"ipamsim/sim/cluster"
	"ipamsim/sim/cluster/kubeapi"
)

// Partition cuts a node off from the API server; its containers run on.
type Partition struct {
	Node string          `json:"node" jsonschema:"required"`
	For  metav1.Duration `json:"for,omitzero" unset:"until it is healed"` // default: until healed
}

// Do pulls the network cable.
func (a *Partition) Do(ctx context.Context, o *cluster.Operator) error {
	if err := o.Cluster.CheckNode(a.Node); err != nil {
		return err
	}
	o.Cluster.Partition(a.Node, true)
	if a.For.Duration == 0 {
		return nil
	}
	if !kubeapi.Sleep(ctx, a.For.Duration) {
		return ctx.Err()
	}
	o.Cluster.Partition(a.Node, false)
	return nil
}

func (a *Partition) String() string { return "network partition of node " + a.Node }

// Machine is the node that it happens to.
func (a *Partition) Machine() string { return a.Node }

// Heal ends a partition.
type Heal struct {
	Node string `json:"node" jsonschema:"required"`
}

// Do plugs the cable in.
func (a *Heal) Do(_ context.Context, o *cluster.Operator) error {
	err := o.Cluster.CheckNode(a.Node)
	if err == nil {
		o.Cluster.Partition(a.Node, false)
	}
	return err
}

func (a *Heal) String() string { return "node " + a.Node + " reachable again" }

// Machine is the node that it happens to.
func (a *Heal) Machine() string { return a.Node }
