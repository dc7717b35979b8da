package remedy

import (
	"encoding/json"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"ipamsim/model"
	"ipamsim/scenarios"
	"ipamsim/sim/cluster"
)

// Facts holds the pods and nodes of a scenario, and who recreates a deleted pod.
type Facts struct {
	pods   map[model.PodRef]*cluster.Object
	nodes  map[string]*corev1.Node
	stored map[string]bool // controllers in the scenario, by KIND NAMESPACE/NAME
	owner  func(model.PodRef) Owner
	asks   []string        // annotations with which a pod requests a specific address
	writes map[string]bool // annotations that a CNI plugin writes on a running pod
	named  bool            // at least one pod has an owner, so a pod without one is bare
}

// Owner is the controller that recreates a pod after it is deleted; the zero value means that
// there is none. The owner of a ReplicaSet's pod is the Deployment.
type Owner struct {
	Kind, Name string
	Bound      bool // the pod is restricted to some nodes by a rule that is not simulated
	Hidden     bool // the dump does not have the pod: its owner is unknown
}

func (o Owner) none() bool { return o.Kind == "" }

// FactsOf reads the manifests of a scenario; owner returns the owner of a pod. Pods are
// decoded on demand.
func FactsOf(s *scenarios.Scenario, owner func(model.PodRef) Owner) (*Facts, error) {
	c := &Facts{pods: map[model.PodRef]*cluster.Object{}, nodes: map[string]*corev1.Node{}, stored: map[string]bool{}, owner: owner, writes: map[string]bool{
		cluster.ContainerAnnotation: true, "k8s.v1.cni.cncf.io/network-status": true, "k8s.v1.cni.cncf.io/networks-status": true,
	}}
	for _, m := range s.Managers() {
		for _, name := range append(m.Annotations.Writes, m.Annotations.Container) {
			c.writes[name] = true
		}
		for _, name := range []string{m.Annotations.Addresses, m.Annotations.Static} {
			if name != "" {
				c.asks = append(c.asks, name)
			}
		}
	}
	for i := range s.Objects {
		o := &s.Objects[i]
		switch o.Kind {
		case "Pod":
			ref := model.PodRef{Namespace: o.Namespace, Name: o.Name}
			c.pods[ref] = o
			c.named = c.named || !owner(ref).none()
		case "Node":
			n := &corev1.Node{}
			if err := json.Unmarshal(o.Body, n); err != nil {
				return nil, fmt.Errorf("remedy: %s %s: %w", o.Kind, o.Name, err)
			}
			c.nodes[o.Name] = n
		case "Deployment", "StatefulSet", "DaemonSet", "Job":
			c.stored[o.Kind+" "+o.Namespace+"/"+o.Name] = true
		}
	}
	return c, nil
}

// acts reports whether the controller of a pod is in the scenario, so that it recreates the
// pod itself.
func (c *Facts) acts(p *corev1.Pod) bool {
	return slices.ContainsFunc(p.OwnerReferences, func(o metav1.OwnerReference) bool {
		return o.Controller != nil && *o.Controller && c.stored[o.Kind+" "+p.Namespace+"/"+o.Name]
	})
}

// pod decodes a pod; nil if there is none.
func (c *Facts) pod(ref model.PodRef) *corev1.Pod {
	o := c.pods[ref]
	if o == nil {
		return nil
	}
	p := &corev1.Pod{}
	if json.Unmarshal(o.Body, p) != nil {
		return nil // the API server will reject it
	}
	p.Namespace = ref.Namespace
	return p
}

// TakesPods reports whether a node accepts pods without tolerations: it exists, is not
// cordoned and not tainted.
func (c *Facts) TakesPods(node string) bool {
	n := c.nodes[node]
	return n != nil && !n.Spec.Unschedulable && !c.Tainted(node)
}

// Tainted reports whether a node has a taint, other than that of a cordon, that keeps pods
// away.
func (c *Facts) Tainted(node string) bool {
	n := c.nodes[node]
	return n != nil && slices.ContainsFunc(n.Spec.Taints, func(t corev1.Taint) bool {
		return t.Effect != corev1.TaintEffectPreferNoSchedule && t.Key != corev1.TaintNodeUnschedulable
	})
}

// Cordoned reports whether a node is cordoned.
func (c *Facts) Cordoned(node string) bool {
	n := c.nodes[node]
	return n != nil && n.Spec.Unschedulable
}

// Exists reports whether there is such a Node.
func (c *Facts) Exists(node string) bool { return c.nodes[node] != nil }

const mirrorAnnotation = "kubernetes.io/config.mirror"

// Obstacle returns why a pod cannot be restarted to get another address.
func (c *Facts) Obstacle(ref model.PodRef) Obstacle { return c.Ruled(ref).Why }

// Ruled returns the Obstacle of a pod with its details.
func (c *Facts) Ruled(ref model.PodRef) Ruled {
	if p := c.pod(ref); p != nil {
		if i := slices.IndexFunc(c.asks, func(name string) bool { return p.Annotations[name] != "" }); i >= 0 {
			return Ruled{ref, OwnAddress, c.asks[i]}
		}
	}
	why := c.Remade(ref)
	if why == Movable && c.owner(ref).Bound && !c.StaysHome(ref) {
		why = Pinned
	}
	return Ruled{Pod: ref, Why: why}
}

// Remade returns why no controller would recreate a pod, or Movable if one would.
func (c *Facts) Remade(ref model.PodRef) Obstacle {
	p, o := c.pod(ref), c.owner(ref)
	switch {
	case p == nil || o.Hidden || o.none() && !c.named:
		return Unknown
	case p.Annotations[mirrorAnnotation] != "" || o.Kind == "Node":
		return Static
	case o.none():
		return Bare
	case o.Kind == "Job":
		return Work
	}
	return Movable
}

// Machine returns the virtual machine of a virt-launcher pod.
func (c *Facts) Machine(ref model.PodRef) (machine model.PodRef, ok bool) {
	o := c.owner(ref)
	return model.PodRef{Namespace: ref.Namespace, Name: o.Name}, o.Kind == "VirtualMachineInstance"
}

// StaysHome reports whether a pod returns to its own node, even if that is cordoned, because
// it belongs to a DaemonSet.
func (c *Facts) StaysHome(ref model.PodRef) bool { return c.owner(ref).Kind == "DaemonSet" }

// Node returns the node of a pod.
func (c *Facts) Node(ref model.PodRef) string {
	if p := c.pod(ref); p != nil {
		return p.Spec.NodeName
	}
	return ""
}
