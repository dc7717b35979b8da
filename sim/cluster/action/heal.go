package action

import (
	"context"

	"ipamsim/sim/cluster"
)

// Heal ends a partition.
type Heal struct {
	Node string `json:"node" jsonschema:"required"`
}

// Do plugs the cable in.
func (a *Heal) Do(_ context.Context, o *cluster.Operator) error {
	err := o.Cluster.Machine(a.Node)
	if err == nil {
		o.Cluster.Partition(a.Node, false)
	}
	return err
}

func (a *Heal) String() string { return "node " + a.Node + " reachable again" }

// Machine is the node that it happens to.
func (a *Heal) Machine() string { return a.Node }
