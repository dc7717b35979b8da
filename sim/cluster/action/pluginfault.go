package action

import (
	"cmp"
	"context"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"ipamsim/model"
	"ipamsim/sim/cluster"
	"ipamsim/sim/ipam/interfaceplugin"
)

// PluginFault makes a CNI plugin of a node fail for a while. A plugin that creates the interface
// fails at that point: an ADD after the address manager has assigned an address, a DEL when it
// removes the interface. A plugin that follows in a list of plugins only fails.
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

var pluginFault = define(Kind{
	Name: "plugin", Class: model.InjectedFault, Stops: model.StopsMachine,
	Doc:     "A CNI plugin of a node fails after the manager has given an address, or when it removes the interface.",
	Hazards: []Hazard{{Name: "plugin", Doc: "a CNI plugin of a node fails after the manager has given an address, or when it removes the interface", Named: true, Needs: hasNetworks, Plan: planPlugin}},
}, func(c Checker, a *PluginFault) {
	c.Node(a.Node, "node")
	needs(c, hasNetworks)
	c.Bad(a.For.Duration <= 0, Part{"for"}, "missing: for how long, e.g. 30s")
	c.Bad(a.For.Duration > c.Left(), Part{"for"}, "it fails beyond spec.until, %s", brief(metav1.Duration{Duration: c.Until()}))
	known := c.PluginTypes()
	c.Bad(a.Type != "" && !slices.Contains(known, a.Type), Part{"type"}, "no network has a plugin %s, %s", c.Quote(a.Type), c.Want(a.Type, known))
})

func planPlugin(ctx context.Context, d Draw) (Planned, error) {
	n, ok, err := d.Node(ctx)
	if !ok {
		return Planned{}, err
	}
	kind, _, err := one(ctx, d, "type", d.Cluster().Plugins.Types())
	if err != nil {
		return Planned{}, err
	}
	command, _, err := one(ctx, d, "command", []string{"ADD", "DEL", ""})
	if err != nil {
		return Planned{}, err
	}
	long, err := lasting(ctx, d)
	return Planned{Action: &PluginFault{Node: n, Type: kind, Command: command, For: long}}, err
}
