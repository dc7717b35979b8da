package cluster

import (
	"context"
)

// PowerOn gives a node that crashed its power back.
type PowerOn struct {
	Node string `json:"node" jsonschema:"required"`
}

// Do presses the button.
func (a *PowerOn) Do(_ context.Context, o *Operator) error {
	if _, err := o.machine(a.Node); err != nil || o.c.up(a.Node) {
		return err
	}
	o.c.boot(a.Node)
	return nil
}

func (a *PowerOn) String() string { return "power on node " + a.Node }

// Machine is the node that it happens to.
func (a *PowerOn) Machine() string { return a.Node }
