package cluster

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ReplaceNode throws a machine away, disk and all, and puts a new one in its
// place: as a cloud does. Without As the new one has the old one's name.
type ReplaceNode struct {
	Node string `json:"node" jsonschema:"required"`
	As   string `json:"as,omitempty"`
	// KeepObject leaves the old Node object in the API, as when nobody tells it.
	KeepObject bool `json:"keepObject,omitempty"`
}

// Do swaps the machines.
func (a *ReplaceNode) Do(ctx context.Context, o *Operator) error {
	old, err := o.machine(a.Node)
	if err != nil {
		return err
	}
	labels := map[string]string(nil)
	if old.object != nil {
		labels = old.object.Labels
	}
	o.c.powerOff(a.Node, true)
	if !a.KeepObject {
		if err := o.client.delete(ctx, builtin["Node"].path("", a.Node), metav1.DeleteOptions{}); err != nil {
			return err
		}
	}
	name := a.As
	if name == "" {
		name = a.Node
	}
	if name != a.Node || !a.KeepObject {
		if err := o.client.create(ctx, builtin["Node"], "", NodeManifest(name, labels)); err != nil {
			return err
		}
	}
	o.c.waitFor(ctx, name)
	o.c.boot(name)
	return nil
}

func (a *ReplaceNode) String() string {
	if a.As != "" && a.As != a.Node {
		return fmt.Sprintf("replace node %s by %s", a.Node, a.As)
	}
	return "replace the machine of node " + a.Node
}

// waitFor makes sure that the cluster has heard of a node that was just created.
func (c *Cluster) waitFor(ctx context.Context, node string) {
	for c.node(node) == nil && sleep(ctx, 1) {
	}
}
