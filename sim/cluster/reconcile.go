package cluster

import (
	"context"
)

// Reconcile starts passes of a reconciler now, all at once.
type Reconcile struct {
	Name  string `json:"name" jsonschema:"required"`
	Node  string `json:"node,omitempty"`
	Count int    `json:"count,omitempty" unset:"1"` // default 1
}

// Do starts them.
func (a *Reconcile) Do(_ context.Context, o *Operator) error {
	r, err := o.c.reconciler(a.Name)
	if err != nil {
		return err
	}
	for range max(a.Count, 1) {
		o.c.reconcile(r, a.Node)
	}
	return nil
}

func (a *Reconcile) String() string { return "start " + a.Name }
