package calico

import (
	"context"
	"fmt"
	"maps"

	libapi "github.com/projectcalico/calico/libcalico-go/lib/apis/v3"
	"github.com/projectcalico/calico/libcalico-go/lib/options"
	corev1 "k8s.io/api/core/v1"

	"ipamsim/sim/ipam/calico/store"
	"ipamsim/sim/kube"
)

// bgpAddress and bgp6Address are the annotations with the addresses, and the length of their
// subnets, that calico-node found on its host ("10.64.16.55/22").
const (
	bgpAddress  = "projectcalico.org/IPv4Address"
	bgp6Address = "projectcalico.org/IPv6Address"
)

// followNodes maintains Calico's own Node objects in etcdv3, without which the allocator refuses a
// host: calico-node creates one when it starts on a machine, and the node controller of
// kube-controllers copies the labels. Both happen here as soon as the Kubernetes Node exists, and
// pass no gate.
//
// The objects are not deleted here: the garbage collector does that.
//
// Source: node/pkg/lifecycle/startup/startup.go, Run;
// kube-controllers/pkg/controllers/node/labels.go, syncNodeLabels.
func (i *instance) followNodes() {
	i.env.API.OnChange(func(ch kube.Change) {
		n, ok := ch.Object.(*corev1.Node)
		if !ok || i.failed != nil {
			return
		}
		if old, ok := ch.Old.(*corev1.Node); ok && maps.Equal(old.Labels, n.Labels) {
			return // a heartbeat
		}
		if err := i.keepNode(n); err != nil {
			i.failed = fmt.Errorf("calico: node %s: %w", n.Name, err)
		}
	})
}

func (i *instance) keepNode(n *corev1.Node) error {
	ctx := context.Background()
	c, err := i.ds.Client(nil, 0)
	if err != nil {
		return err
	}
	was, err := c.Nodes().Get(ctx, n.Name, options.GetOptions{})
	if store.Missing(err) {
		_, err = c.Nodes().Create(ctx, calicoNode(n), options.SetOptions{})
		return err
	}
	if err != nil || maps.Equal(was.Labels, n.Labels) {
		return err
	}
	was.Labels = maps.Clone(n.Labels)
	_, err = c.Nodes().Update(ctx, was, options.SetOptions{})
	return err
}

// calicoNode is what calico-node writes when it first starts on a host.
func calicoNode(n *corev1.Node) *libapi.Node {
	out := libapi.NewNode()
	out.Name, out.Labels = n.Name, maps.Clone(n.Labels)
	out.Spec.OrchRefs = []libapi.OrchRef{{NodeName: n.Name, Orchestrator: "k8s"}}
	for _, a := range n.Status.Addresses {
		if a.Type == corev1.NodeInternalIP {
			out.Spec.Addresses = append(out.Spec.Addresses, libapi.NodeAddress{Address: a.Address, Type: string(corev1.NodeInternalIP)})
		}
	}
	if four, six := n.Annotations[bgpAddress], n.Annotations[bgp6Address]; four+six != "" {
		out.Spec.BGP = &libapi.NodeBGPSpec{IPv4Address: four, IPv6Address: six}
	}
	adoptTunnels(out, n)
	return out
}
