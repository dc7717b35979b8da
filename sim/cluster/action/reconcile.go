package action

import (
	"context"

	"ipamsim/model"
	"ipamsim/sim/cluster"
)

// Reconcile starts passes of a reconciler now, all at the same time.
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

var reconcile = define(Kind{
	Name: "reconcile", Class: model.Ordinary,
	Doc:     "Passes of a reconciler start now, all at the same time.",
	Hazards: []Hazard{{Name: "reconcile", Doc: "a pass of a scheduled reconciler starts now, beside any that runs", Needs: hasCron, Plan: planReconcile}},
}, func(c Checker, a *Reconcile) {
	c.Reconciler(a.Name, "name")
	c.Bad(a.Count < 0 || a.Count > PassesMax, Part{"count"}, "want 1 to %d concurrent passes", PassesMax)
	if a.Node != "" {
		c.Node(a.Node, "node")
	}
})

// PassesMax is how many passes of a reconciler may start at the same time.
const PassesMax = 100

func planReconcile(ctx context.Context, d Draw) (Planned, error) {
	a, ok, err := one(ctx, d, "pass", d.Passes())
	if !ok {
		return Planned{}, err
	}
	return Planned{Action: a}, nil
}
