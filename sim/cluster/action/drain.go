package action

import (
	"context"

	"ipamsim/sim/cluster"
	"ipamsim/sim/cluster/kubeapi"
)

// Drain cordons a node and evicts its pods, those of DaemonSets excepted.
type Drain struct {
	Node  string `json:"node" jsonschema:"required"`
	Force bool   `json:"force,omitempty"` // delete without asking the kubelet
}

// Do runs kubectl drain.
func (a *Drain) Do(ctx context.Context, o *cluster.Operator) error {
	if err := (&Cordon{Node: a.Node}).Do(ctx, o); err != nil {
		return err
	}
	for _, p := range o.Cluster.Cache.PodsOn(a.Node) {
		if len(p.OwnerReferences) > 0 && p.OwnerReferences[0].Kind == "DaemonSet" {
			continue
		}
		if err := o.Client.DeletePod(ctx, p.Namespace, p.Name, a.Force); err != nil {
			return err
		}
	}
	return nil
}

func (a *Drain) String() string { return "kubectl drain " + a.Node }

// Machine is the node that it happens to.
func (a *Drain) Machine() string { return a.Node }

// Cordon keeps new pods away from a node, or lets them come again.
type Cordon struct {
	Node string `json:"node" jsonschema:"required"`
	Undo bool   `json:"undo,omitempty"`
}

// Do runs kubectl cordon.
func (a *Cordon) Do(ctx context.Context, o *cluster.Operator) error {
	return o.Client.Patch(ctx, kubeapi.Nodes.Path("", a.Node), kubeapi.MergePatch,
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
