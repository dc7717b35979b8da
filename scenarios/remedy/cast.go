package remedy

import (
	"encoding/json"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"ipamsim/model"
	"ipamsim/scenarios"
	"ipamsim/sim/cluster"
)

// Cast knows the pods and nodes of a scenario, and what becomes of a pod that is
// deleted.
type Cast struct {
	pods  map[model.PodRef]*cluster.Object
	nodes map[string]*corev1.Node
	named bool // some pod names its owner, so that one that names none has none
}

// CastOf reads the manifests of a scenario. Pods are decoded when they are asked for.
func CastOf(s *scenarios.Scenario) (*Cast, error) {
	c := &Cast{pods: map[model.PodRef]*cluster.Object{}, nodes: map[string]*corev1.Node{}}
	for i := range s.Objects {
		o := &s.Objects[i]
		switch o.Kind {
		case "Pod":
			c.pods[model.PodRef{Namespace: o.Namespace, Name: o.Name}] = o
		case "Node":
			n := &corev1.Node{}
			if err := json.Unmarshal(o.Body, n); err != nil {
				return nil, fmt.Errorf("remedy: %s %s: %w", o.Kind, o.Name, err)
			}
			c.nodes[o.Name] = n
		}
	}
	for ref := range c.pods {
		if p := c.pod(ref); p != nil && controller(p) != nil {
			c.named = true
			break
		}
	}
	return c, nil
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

const (
	askedAnnotation  = "cni.projectcalico.org/ipAddrs"
	pastAnnotation   = "cni.projectcalico.org/ipAddrsNoIpam"
	mirrorAnnotation = "kubernetes.io/config.mirror"
)

// Obstacle is why a pod is not restarted to get it another address.
func (c *Cast) Obstacle(ref model.PodRef) Obstacle {
	p := c.pod(ref)
	if p == nil {
		return Unknown
	}
	if p.Annotations[askedAnnotation] != "" || p.Annotations[pastAnnotation] != "" {
		return OwnAddress
	}
	return c.remade(p)
}

// Remade is why nobody would make a pod again, Movable if somebody would.
func (c *Cast) Remade(ref model.PodRef) Obstacle {
	p := c.pod(ref)
	if p == nil {
		return Unknown
	}
	return c.remade(p)
}

func (c *Cast) remade(p *corev1.Pod) Obstacle {
	o := controller(p)
	switch {
	case p.Annotations[mirrorAnnotation] != "" || o != nil && o.kind == "Node":
		return Static
	case o == nil && !c.named:
		return Unknown
	case o == nil:
		return Bare
	}
	return Movable
}

// Machine is the virtual machine whose launcher a pod is.
func (c *Cast) Machine(ref model.PodRef) (machine model.PodRef, ok bool) {
	if p := c.pod(ref); p != nil {
		if o := controller(p); o != nil && o.kind == "VirtualMachineInstance" {
			return model.PodRef{Namespace: ref.Namespace, Name: o.name}, true
		}
	}
	return model.PodRef{}, false
}

// StaysHome reports whether a pod comes back to its own node, whatever is cordoned: a
// DaemonSet's does.
func (c *Cast) StaysHome(ref model.PodRef) bool {
	p := c.pod(ref)
	if p == nil {
		return false
	}
	o := controller(p)
	return o != nil && o.kind == "DaemonSet"
}

// Node is where a pod runs.
func (c *Cast) Node(ref model.PodRef) string {
	if p := c.pod(ref); p != nil {
		return p.Spec.NodeName
	}
	return ""
}

// maker is the controller that made a pod.
type maker struct{ kind, name string }

// controller is nil for a pod that nobody makes again.
func controller(p *corev1.Pod) *maker {
	for _, o := range p.OwnerReferences {
		if o.Controller != nil && *o.Controller {
			return &maker{o.Kind, o.Name}
		}
	}
	return nil
}
