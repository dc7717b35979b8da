package cluster

import (
	"context"
)

// Drain cordons a node and evicts its pods, those of DaemonSets excepted.
type Drain struct {
	Node  string `json:"node" jsonschema:"required"`
	Force bool   `json:"force,omitempty"` // delete without asking the kubelet
}

// Do runs kubectl drain.
func (a *Drain) Do(ctx context.Context, o *Operator) error {
	if err := (&Cordon{Node: a.Node}).Do(ctx, o); err != nil {
		return err
	}
	for _, p := range o.c.stored.PodsOn(a.Node) {
		if len(p.OwnerReferences) > 0 && p.OwnerReferences[0].Kind == "DaemonSet" {
			continue
		}
		if err := o.client.DeletePod(ctx, p.Namespace, p.Name, a.Force); err != nil {
			return err
		}
	}
	return nil
}

func (a *Drain) String() string { return "kubectl drain " + a.Node }

// Machine is the node that it happens to.
func (a *Drain) Machine() string { return a.Node }
