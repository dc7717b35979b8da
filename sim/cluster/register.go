package cluster

import (
	"context"
	"encoding/json"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"ipamsim/model"
	"ipamsim/sim"
	"ipamsim/sim/cluster/kubeapi"
	"ipamsim/sim/kube"
)

// register creates the deleted Node again. A kubelet does so only when it starts: if its Node
// is deleted later, the kubelet goes on without. If there is a Node, the real kubelet sends
// the request, too, and gets AlreadyExists; that is left out, as heartbeats are.
//
// Source: pkg/kubelet/kubelet_node_status.go, registerWithAPIServer and syncNodeStatus
// (v1.37.2).
func (k *kubelet) register() {
	manifest := k.c.deletedNode(k.node)
	if manifest == nil {
		return
	}
	k.registers = sim.ActorID(k.c.Name("register/" + k.node))
	k.c.World.Spawn(sim.Process{ID: k.registers, Group: k.node, Run: func(ctx context.Context, g *sim.Gate) error {
		cl := kubeapi.New(k.c.api.Transport(g))
		for step := 100 * time.Millisecond; kubeapi.Sleep(ctx, step); step = min(2*step, 7*time.Second) {
			err := cl.Create(kube.WithClass(ctx, "status"), kubeapi.Nodes, "", manifest)
			if err == nil {
				k.c.Checker.Record(model.Event{Kind: model.NodeEvent, Node: k.node, Text: "registered again"})
			}
			if err == nil || apierrors.IsAlreadyExists(err) {
				return nil
			}
		}
		return ctx.Err()
	}})
}

// deletedNode is the Node as the kubelet of a machine registers it, if it does not exist now.
// Labels count as those of --node-labels and of the cloud, which return with it, and the address is
// still the machine's.
func (c *Cluster) deletedNode(name string) json.RawMessage {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := c.nodes[name]
	if n.object != nil || n.last == nil {
		return nil
	}
	o := kubeapi.NodeOf(name, n.last.Labels)
	o.Annotations = map[string]string{}
	for _, k := range []string{c.Config.Manager.Annotations.Node, c.Config.Manager.Annotations.Node6} {
		if a := n.last.Annotations[k]; a != "" {
			o.Annotations[k] = a
		}
	}
	o.Status.Addresses = n.last.Status.Addresses
	return kubeapi.Manifest(o)
}
