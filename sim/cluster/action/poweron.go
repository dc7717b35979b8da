package action

import (
	"context"

	"ipamsim/sim/cluster"
)

// PowerOn gives a node that crashed its power back.
type PowerOn struct {
	Node string `json:"node" jsonschema:"required"`
}

// Do presses the button.
func (a *PowerOn) Do(_ context.Context, o *cluster.Operator) error {
	if err := o.Cluster.Machine(a.Node); err != nil || o.Cluster.Up(a.Node) {
		return err
	}
	o.Cluster.PowerOn(a.Node)
	return nil
}

func (a *PowerOn) String() string { return "power on node " + a.Node }

// Machine is the node that it happens to.
func (a *PowerOn) Machine() string { return a.Node }
