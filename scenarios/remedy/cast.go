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

// Cast knows the pods and nodes of a scenario, and what becomes of a pod that is
// deleted.
type Cast struct {
	pods   map[model.PodRef]*cluster.Object
	nodes  map[string]*corev1.Node
	stored map[string]bool // controllers that the scenario has, by KIND NAMESPACE/NAME
	owner  func(model.PodRef) Owner
	asks   []string        // annotations by which a pod asks a manager for its very address
	writes map[string]bool // annotations that a CNI plugin writes of the pod that is there
	named  bool            // some pod has an owner, so that one without has none
}

// Owner is the controller that makes a pod again when it is gone; the zero value: nobody
// does. What a Deployment's ReplicaSet made is the Deployment's. Bound: the pod may run on
// some nodes only, by a rule that is not simulated.
type Owner struct {
	Kind, Name string
	Bound      bool
	Hidden     bool // the dump does not have the pod: nothing is known of its owner
}

func (o Owner) nobody() bool { return o.Kind == "" }

// CastOf reads the manifests of a scenario. Pods are decoded when they are asked for.
// owner says whose a pod is.
func CastOf(s *scenarios.Scenario, owner func(model.PodRef) Owner) (*Cast, error) {
	c := &Cast{pods: map[model.PodRef]*cluster.Object{}, nodes: map[string]*corev1.Node{}, stored: map[string]bool{}, owner: owner, writes: map[string]bool{
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
			c.named = c.named || !owner(ref).nobody()
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

// acts reports whether the controller of a pod is in the scenario, and makes it again by
// itself.
func (c *Cast) acts(p *corev1.Pod) bool {
	return slices.ContainsFunc(p.OwnerReferences, func(o metav1.OwnerReference) bool {
		return o.Controller != nil && *o.Controller && c.stored[o.Kind+" "+p.Namespace+"/"+o.Name]
	})
}

// pod decodes a pod; nil if there is none.
func (c *Cast) pod(ref model.PodRef) *corev1.Pod {
	o := c.pods[ref]
	if o == nil {
		return nil
	}
	p := &corev1.Pod{}
	if json.Unmarshal(o.Body, p) != nil {
		return nil // the API server will say so
	}
	p.Namespace = ref.Namespace
	return p
}

// TakesPods reports whether a node takes pods that tolerate nothing: it exists, is not
// cordoned and not tainted.
func (c *Cast) TakesPods(node string) bool {
	n := c.nodes[node]
	return n != nil && !n.Spec.Unschedulable && !c.Tainted(node)
}

// Tainted reports whether a node keeps pods away that do not tolerate it, besides by
// being cordoned.
func (c *Cast) Tainted(node string) bool {
	n := c.nodes[node]
	return n != nil && slices.ContainsFunc(n.Spec.Taints, func(t corev1.Taint) bool {
		return t.Effect != corev1.TaintEffectPreferNoSchedule && t.Key != corev1.TaintNodeUnschedulable
	})
}

// Cordoned reports whether a node is.
func (c *Cast) Cordoned(node string) bool {
	n := c.nodes[node]
	return n != nil && n.Spec.Unschedulable
}

// Exists reports whether there is such a Node.
func (c *Cast) Exists(node string) bool { return c.nodes[node] != nil }

const mirrorAnnotation = "kubernetes.io/config.mirror"

// Obstacle is why a pod is not restarted to get it another address.
func (c *Cast) Obstacle(ref model.PodRef) Obstacle { return c.Ruled(ref).Why }

// Ruled is Obstacle with what there is to say of it.
func (c *Cast) Ruled(ref model.PodRef) Ruled {
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

// Remade is why nobody would make a pod again, Movable if somebody would.
func (c *Cast) Remade(ref model.PodRef) Obstacle {
	p, o := c.pod(ref), c.owner(ref)
	switch {
	case p == nil || o.Hidden || o.nobody() && !c.named:
		return Unknown
	case p.Annotations[mirrorAnnotation] != "" || o.Kind == "Node":
		return Static
	case o.nobody():
		return Bare
	case o.Kind == "Job":
		return Work
	}
	return Movable
}

// Machine is the virtual machine whose launcher a pod is.
func (c *Cast) Machine(ref model.PodRef) (machine model.PodRef, ok bool) {
	o := c.owner(ref)
	return model.PodRef{Namespace: ref.Namespace, Name: o.Name}, o.Kind == "VirtualMachineInstance"
}

// StaysHome reports whether a pod comes back to its own node, whatever is cordoned: a
// DaemonSet's does.
func (c *Cast) StaysHome(ref model.PodRef) bool { return c.owner(ref).Kind == "DaemonSet" }

// Node is where a pod runs.
func (c *Cast) Node(ref model.PodRef) string {
	if p := c.pod(ref); p != nil {
		return p.Spec.NodeName
	}
	return ""
}
