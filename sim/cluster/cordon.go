package cluster

import (
	"context"

	"ipamsim/sim/cluster/kubeapi"
)

// Cordon keeps new pods away from a node, or lets them come again.
type Cordon struct {
	Node string `json:"node" jsonschema:"required"`
	Undo bool   `json:"undo,omitempty"`
}

// Do runs kubectl cordon.
func (a *Cordon) Do(ctx context.Context, o *Operator) error {
	return o.client.Patch(ctx, kubeapi.Nodes.Path("", a.Node), kubeapi.MergePatch,
		map[string]any{"spec": map[string]any{"unschedulable": !a.Undo}})
}

func (a *Cordon) String() string {
	if a.Undo {
		return "kubectl uncordon " + a.Node
	}
	return "kubectl cordon " + a.Node
}

// Machine is the node that it happens to.
func (a *Cordon) Machine() string { return a.Node }
