package cluster

import (
	"context"
	"encoding/json"
	"fmt"
	"net/netip"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"ipamsim/sim/disk"
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
	name := a.As
	if name == "" {
		name = a.Node
	}
	manifest := o.c.newcomer(name, old)
	o.c.powerOff(a.Node, true, disk.Loss{})
	if !a.KeepObject {
		if err := o.client.delete(ctx, builtin["Node"].path("", a.Node), metav1.DeleteOptions{}); err != nil {
			return err
		}
	}
	if name != a.Node || !a.KeepObject {
		if err := o.client.create(ctx, builtin["Node"], "", manifest); err != nil {
			return err
		}
	}
	o.c.waitFor(ctx, name)
	if o.c.nodeUp(name) { // somebody has given the old machine its power back meanwhile
		o.c.powerOff(name, true, disk.Loss{})
	}
	o.c.boot(name)
	return nil
}

// newcomer is the Node of a machine that takes the place of another: in the same
// subnet, with the next address that no node has had.
func (c *Cluster) newcomer(name string, old *node) json.RawMessage {
	c.mu.Lock()
	defer c.mu.Unlock()
	if old.object == nil {
		return NodeManifest(name, nil)
	}
	n := nodeOf(name, old.object.Labels)
	if old.object.Annotations[AddrAnnotation] != "" {
		last := old.addr.Addr()
		for _, x := range c.nodes {
			if x.addr.Masked() == old.addr.Masked() && last.Less(x.addr.Addr()) {
				last = x.addr.Addr()
			}
		}
		n.Annotations = map[string]string{AddrAnnotation: netip.PrefixFrom(last.Next(), old.addr.Bits()).String()}
	}
	return manifest(n)
}

func (a *ReplaceNode) String() string {
	if a.As != "" && a.As != a.Node {
		return fmt.Sprintf("replace node %s by %s", a.Node, a.As)
	}
	return "replace the machine of node " + a.Node
}

// Machine is the node that it happens to.
func (a *ReplaceNode) Machine() string { return a.Node }

// waitFor makes sure that the cluster has heard of a node that was just created.
func (c *Cluster) waitFor(ctx context.Context, node string) {
	for c.node(node) == nil && sleep(ctx, 1) {
	}
}
