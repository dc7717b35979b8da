package action

import (
	"context"

	"ipamsim/model"
	"ipamsim/sim/cluster"
)

// StopBIRD ends a node's routing daemon, which announces the node's routes and receives those of
// other nodes. The node's pods and its routing table stay.
type StopBIRD struct {
	Node string `json:"node" jsonschema:"required"`
	Undo bool   `json:"undo,omitempty"` // start it again
}

// Do stops or starts it.
func (a *StopBIRD) Do(_ context.Context, o *cluster.Operator) error {
	if err := o.Cluster.CheckNode(a.Node); err != nil {
		return err
	}
	return o.Cluster.Checker.BIRD(a.Node, a.Undo, a.String())
}

func (a *StopBIRD) String() string {
	if a.Undo {
		return "start bird on " + a.Node
	}
	return "kill bird on " + a.Node
}

var stopBIRD = define(Kind{
	Name: "stopBIRD", Class: model.InjectedFault, Stops: model.StopsMachine,
	Doc:     "The routing daemon of a node stops.",
	Hazards: []Hazard{{Name: "stopBIRD", Doc: "the routing daemon of a node stops for a while", Named: true, Needs: routed, Plan: undone(func(n string, undo bool) cluster.Action { return &StopBIRD{Node: n, Undo: undo} })}},
}, func(c Checker, a *StopBIRD) { c.Node(a.Node, "node") })
