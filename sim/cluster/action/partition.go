package action

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"ipamsim/model"
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

var partition = define(Kind{
	Name: "partition", Class: model.InjectedFault, Stops: model.StopsMachine,
	Doc:     "A node cannot reach the API server.",
	Hazards: []Hazard{{Name: "partition", Doc: "a node cannot reach the API server for a while", Needs: always, Plan: lastingOn(func(n string, d metav1.Duration) cluster.Action { return &Partition{Node: n, For: d} })}},
}, func(c Checker, a *Partition) { c.Node(a.Node, "node") })

var heal = define(Kind{
	Name: "heal", Class: model.Ordinary,
	Doc: "A partitioned node reaches the API server again.",
}, func(c Checker, a *Heal) { c.Node(a.Node, "node") })
