package alias

import "ipamsim/scenarios/dump/kept"

// Pod adds what a pod and its owner are called, and what says on which nodes it may run.
func (n Names) Pod(p *kept.Pod) {
	n.Ref(p.Ref())
	n.Add(Workload, p.Owner.Name)
	for k, v := range p.Selector {
		n.Add(Label, k)
		n.Add(Value, v)
	}
	for _, t := range p.Tolerations {
		n.Add(Label, t.Key)
		n.Add(Value, t.Value)
	}
}

// Node adds a node's labels and taints.
func (n Names) Node(x *kept.Node) {
	n.Labels(x.Labels)
	for _, t := range x.Taints {
		n.Add(Label, t.Key)
		n.Add(Value, t.Value)
	}
}

// Pod is a pod under other names, without its annotations and addresses.
func (a *Aliases) Pod(p *kept.Pod) *kept.Pod {
	out := &kept.Pod{
		Namespace: a.Get(Namespace, p.Namespace), Name: a.Get(Pod, p.Name), Node: a.Get(Node, p.Node),
		Phase: p.Phase, Deleting: p.Deleting, Annotations: map[string]string{},
		Owner: kept.Owner{Kind: p.Owner.Kind, Name: a.Get(Workload, p.Owner.Name)}, Affine: p.Affine,
	}
	if len(p.Selector) > 0 {
		out.Selector = a.Labels(p.Selector)
	}
	for _, t := range p.Tolerations {
		if t.Key != "" { // "": every taint
			t.Key = a.Key(t.Key)
		}
		t.Value = a.Get(Value, t.Value)
		out.Tolerations = append(out.Tolerations, t)
	}
	return out
}

// Node is a node under other names, without its annotations.
func (a *Aliases) Node(n *kept.Node) *kept.Node {
	out := &kept.Node{Labels: a.Labels(n.Labels), Cordoned: n.Cordoned, Unheard: n.Unheard, Annotations: map[string]string{}}
	for _, t := range n.Taints {
		t.Key, t.Value = a.Key(t.Key), a.Get(Value, t.Value)
		out.Taints = append(out.Taints, t)
	}
	return out
}
