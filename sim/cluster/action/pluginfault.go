package action

import (
	"cmp"
	"context"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"ipamsim/sim/cluster"
	"ipamsim/sim/ipam/interfaceplugin"
)

// PluginFault is a CNI plugin of a node that fails for a while. One that makes the interface
// fails where it does so: an ADD after the address manager has given an address, a DEL where it
// takes the interface away. One that follows it in a list of plugins does nothing but fail.
type PluginFault struct {
	Node    string          `json:"node" jsonschema:"required"`
	Type    string          `json:"type,omitempty" unset:"those that make the interface"` // as in the network's configuration: bridge, portmap
	Command string          `json:"command,omitempty" unset:"both" jsonschema:"enum=ADD,enum=DEL"`
	For     metav1.Duration `json:"for" jsonschema:"required"`
}

// Do begins it and, later, ends it.
func (a *PluginFault) Do(ctx context.Context, o *cluster.Operator) error {
	if err := o.Cluster.CheckNode(a.Node); err != nil {
		return err
	}
	return lasts(ctx, o, a, a.For, o.Cluster.Plugins.Begin(interfaceplugin.Fault{Node: a.Node, Type: a.Type, Command: a.Command}))
}

func (a *PluginFault) String() string {
	plugin := strings.TrimSpace("CNI plugin " + a.Type)
	return cmp.Or(a.Command, "every call") + " of " + plugin + " fails on node " + a.Node
}
