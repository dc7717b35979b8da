package cluster

import (
	"context"
)

// Crash takes a node's power away.
type Crash struct {
	Node string `json:"node" jsonschema:"required"`
	// Forget: the disk is lost with it, so no CNI DEL will run for what it held.
	Forget bool `json:"forget,omitempty"`
}

// Do pulls the plug.
func (a *Crash) Do(_ context.Context, o *Operator) error {
	if _, err := o.machine(a.Node); err != nil {
		return err
	}
	o.c.powerOff(a.Node, a.Forget)
	return nil
}

func (a *Crash) String() string { return "power loss on node " + a.Node }

// Machine is the node that it happens to.
func (a *Crash) Machine() string { return a.Node }
