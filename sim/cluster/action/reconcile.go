package action

import (
	"context"

	"ipamsim/sim/cluster"
)

// Reconcile starts passes of a reconciler now, all at once.
type Reconcile struct {
	Name  string `json:"name" jsonschema:"required"`
	Node  string `json:"node,omitempty"`
	Count int    `json:"count,omitempty" unset:"1"` // default 1
}

// Do starts them.
func (a *Reconcile) Do(_ context.Context, o *cluster.Operator) error {
	for range max(a.Count, 1) {
		if _, err := o.Cluster.Reconcile(a.Name, a.Node); err != nil {
			return err
		}
	}
	return nil
}

func (a *Reconcile) String() string { return "start " + a.Name }
