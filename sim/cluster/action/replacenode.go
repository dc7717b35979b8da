package action

import (
	"cmp"
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"ipamsim/model"
	"ipamsim/sim/cluster"
	"ipamsim/sim/cluster/kubeapi"
	"ipamsim/sim/disk"
)

// ReplaceNode throws a machine away, disk and all, and puts a new one in its
// place: as a cloud does. Without As the new one has the old one's name.
type ReplaceNode struct {
	Node string `json:"node" jsonschema:"required"`
	As   string `json:"as,omitempty"`
	// KeepObject leaves the old Node object in the API, as when no cloud controller deletes it.
	KeepObject bool `json:"keepObject,omitempty"`
}

// Do swaps the machines.
func (a *ReplaceNode) Do(ctx context.Context, o *cluster.Operator) error {
	if err := o.Cluster.CheckNode(a.Node); err != nil {
		return err
	}
	name := cmp.Or(a.As, a.Node)
	manifest := o.Cluster.Newcomer(name, a.Node)
	o.Cluster.PowerOff(a.Node, true, disk.Loss{})
	if !a.KeepObject {
		if err := o.Client.Delete(ctx, kubeapi.Nodes.Path("", a.Node), metav1.DeleteOptions{}); err != nil {
			return err
		}
	}
	if name != a.Node || !a.KeepObject {
		if err := o.Client.Create(ctx, kubeapi.Nodes, "", manifest); err != nil {
			return err
		}
	}
	o.Cluster.WaitFor(ctx, name)
	if o.Cluster.Up(name) { // the old machine has its power back
		o.Cluster.PowerOff(name, true, disk.Loss{})
	}
	o.Cluster.PowerOn(name)
	return nil
}

func (a *ReplaceNode) String() string {
	if a.As != "" && a.As != a.Node {
		return fmt.Sprintf("replace node %s by %s", a.Node, a.As)
	}
	return "replace the machine of node " + a.Node
}

var replaceNode = define(Kind{
	Name: "replace", Class: model.Crash, Stops: model.StopsMachine,
	Doc:     "A new machine takes the place of a node's, under the same or another name.",
	Hazards: []Hazard{{Name: "replace", Doc: "a new machine takes the place, and the name, of a node's", Needs: always, Plan: onNode(func(n string) cluster.Action { return &ReplaceNode{Node: n} })}},
}, func(c Checker, a *ReplaceNode) { c.Node(a.Node, "node") })
