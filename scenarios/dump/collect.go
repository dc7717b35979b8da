package dump

import (
	"fmt"
	"slices"
	"strings"
)

// names are all that a cluster calls something, by kind.
type names map[string]map[string]bool

func (n names) add(kind string, all ...string) {
	if n[kind] == nil {
		n[kind] = map[string]bool{}
	}
	for _, s := range all {
		if s != "" {
			n[kind][s] = true
		}
	}
}

// ref adds namespace/name of a pod.
func (n names) ref(s string) {
	ns, name, ok := strings.Cut(s, "/")
	if !ok {
		ns, name = "", s
	}
	n.add("namespace", ns)
	n.add("pod", name)
}

func (n names) handle(id string) {
	if c, ok := strings.CutPrefix(id, podHandle); ok {
		n.add("container", c)
		return
	}
	for _, t := range tunnelHandles {
		if node, ok := strings.CutPrefix(id, t); ok {
			n.add("node", node)
			return
		}
	}
	n.add("handle", id)
}

// labels adds the values of those that a selector asks for.
func (n names) labels(m map[string]string) {
	for k, v := range m {
		if n["label"][k] {
			n.add("value", v)
		}
	}
}

// collect gives an alias to every name that there is.
func (d *draft) collect(a *aliases) {
	n := names{}
	for _, kind := range []string{"node", "namespace", "pod", "container", "handle", "network", "name", "label", "value", "pool", "reservation", "workload"} {
		n.add(kind)
	}
	n.add("pool", keysOf(d.pools)...)
	n.add("reservation", keysOf(d.reserving)...)
	for _, p := range d.pools {
		keysIn(p.NodeSelector, n["label"], n["value"])
		keysIn(p.NamespaceSelector, n["label"], n["value"])
	}
	d.collectPlaces(n)
	n.add("node", keysOf(d.nodes)...)
	for _, x := range d.nodes {
		n.labels(x.Labels)
	}
	n.add("namespace", keysOf(d.spaces)...)
	for _, x := range d.spaces {
		n.labels(x.Labels)
	}
	d.collectRecord(n)
	for _, x := range d.networks {
		ns, name, _ := strings.Cut(x.key, "/")
		n.add("namespace", ns)
		n.add("network", name)
		n.add("name", x.name)
	}
	for _, p := range slices.Concat(d.running, d.waiting, d.finished) {
		n.ref(p.ref())
		n.add("node", p.Node)
		n.add("container", p.container, p.Annotations[containerByCalico])
	}
	for kind, all := range n {
		a.name(kind, all)
	}
	for _, p := range slices.Concat(d.running, d.waiting, d.finished) { // a StatefulSet's pods keep its name
		if i, ok := ordinal(p.Name, p.Owner.Name); ok && p.Owner.Kind == "StatefulSet" {
			a.of["pod"][p.Name] = fmt.Sprintf("%s-%d", a.get("workload", p.Owner.Name), i)
		}
	}
}

// collectPlaces adds the owners of pods, and what says on which nodes they may run.
func (d *draft) collectPlaces(n names) {
	for _, p := range slices.Concat(d.running, d.waiting, d.finished) {
		n.add("workload", p.Owner.Name)
		for k, v := range p.Selector {
			n.add("label", k)
			n.add("value", v)
		}
		for _, t := range p.Tolerations {
			n.add("label", t.Key)
			n.add("value", t.Value)
		}
	}
	for _, x := range d.nodes {
		for _, t := range x.Taints {
			n.add("label", t.Key)
			n.add("value", t.Value)
		}
	}
}

func (d *draft) collectRecord(n names) {
	for _, x := range d.affinities {
		n.add("node", x.Node)
	}
	for id := range d.handles {
		n.handle(id)
	}
	for _, b := range d.blocks {
		if _, host, ok := strings.Cut(deref(b.Affinity), ":"); ok {
			n.add("node", host)
		}
		for _, at := range b.Attributes {
			for _, kind := range []string{"node", "namespace", "pod"} {
				n.add(kind, at.Secondary[kind])
			}
			n.handle(deref(at.Handle))
		}
	}
	for _, p := range d.ranged {
		for _, x := range p.Allocations {
			n.ref(x.PodRef)
			n.add("container", x.ID)
		}
	}
	for _, r := range d.reserved {
		n.ref(r.PodRef)
		n.add("container", r.ContainerID)
	}
	for _, p := range d.sliced {
		for _, s := range p.Status.Allocations {
			n.add("node", s.NodeName)
		}
	}
}
