package evidence

import (
	"slices"
	"strings"

	"ipamsim/scenarios/dump/kept"
)

// Absence is what the dump shows about pods that it does not have.
type Absence struct {
	book       *Book
	namespaces kept.Objects[kept.Namespace]
	existing   kept.Objects[kept.Node]
	shown      map[string]bool // namespaces and nodes with a pod in the dump
	short      map[string]bool // namespaces that have more pods according to other objects
	owners     map[string]bool // NAMESPACE/NAME of controllers that have more pods than the dump has
	bare       []string        // Ready nodes without a pod in the dump
	nodes      bool            // the dump shows that it has all nodes
	spaces     bool            // the dump shows that it has all namespaces
}

// Absences reads what other objects say about the pods: the number of pods that controllers
// have, the pods that EndpointSlices name, and the nodes, which all run pods of DaemonSets.
func (c *Book) Absences(pods kept.Objects[kept.Pod], nodes kept.Objects[kept.Node], namespaces kept.Objects[kept.Namespace]) *Absence {
	a := &Absence{book: c, namespaces: namespaces, existing: nodes, shown: map[string]bool{}, short: map[string]bool{}, owners: map[string]bool{}, nodes: c.Nodes(pods, nodes)}
	have := map[string]int{}
	a.spaces = c.Of("namespaces")&Counted != 0 && len(namespaces) > 0
	for _, p := range pods {
		a.spaces = a.spaces && namespaces[p.Value.Namespace] != nil
		a.shown[p.Value.Namespace], a.shown["node "+p.Value.Node] = true, true
		if o := p.Value.Owner; o.Kind != "" && !p.Value.Finished() {
			have[o.Kind+" "+p.Value.Namespace+"/"+o.Name]++
		}
	}
	for key, n := range c.pods {
		if _, ref, _ := strings.Cut(key, " "); have[key] < n {
			namespace, _, _ := strings.Cut(ref, "/")
			a.short[namespace], a.owners[ref] = true, true
		}
	}
	for ref := range c.alive {
		if pods[ref] == nil {
			namespace, _, _ := strings.Cut(ref, "/")
			a.short[namespace] = true
		}
	}
	for _, name := range nodes.Keys() {
		if n := &nodes[name].Value; !n.NotReady && !n.Windows && !a.shown["node "+name] {
			a.bare = append(a.bare, name)
		}
	}
	return a
}

// Known reports whether the dump shows that a pod which it does not have is gone. A list that
// counts its own objects is believed but for the pods that another object names: it may be
// older. A list that is only said to be complete is not believed where anything contradicts it.
func (a *Absence) Known(ref string, nodes []string) bool {
	namespace, name, _ := strings.Cut(ref, "/")
	named := a.book.alive[ref] || a.owned(ref)
	elsewhere := func(n string) bool {
		return n != "" && !a.shown["node "+n] && (a.existing[n] != nil || !a.nodes)
	}
	switch {
	case name == "":
		return true // no pod's
	case named:
		return false
	case a.book.Of("pods")&Counted != 0, a.spaces && a.namespaces[namespace] == nil:
		return true
	case a.short[namespace]:
		return false
	case a.book.inNamespace("pods", namespace):
		return true
	}
	return a.book.Of("pods")&Said != 0 && a.shown[namespace] && len(a.bare) == 0 && !slices.ContainsFunc(nodes, elsewhere)
}

// owned reports whether a pod is named after a controller that has more pods than the dump has.
func (a *Absence) owned(ref string) bool {
	for i, r := range ref {
		if r == '-' && a.owners[ref[:i]] {
			return true
		}
	}
	return false
}

// Whole reports whether nothing contradicts that the dump has all pods.
func (a *Absence) Whole() bool {
	e := a.book.Of("pods")
	return e&Counted != 0 && len(a.owners) == 0 || e&Said != 0 && len(a.short)+len(a.bare) == 0
}

// Nodes reports whether the dump shows that it has all nodes: a pod on another one
// contradicts a list that was not counted.
func (c *Book) Nodes(pods kept.Objects[kept.Pod], nodes kept.Objects[kept.Node]) bool {
	e := c.Of("nodes")
	for _, r := range c.resources {
		if r.Kind == "Node" {
			e |= c.Of(r.Name())
		}
	}
	if e == 0 || len(nodes) == 0 || e&Counted != 0 {
		return e != 0 && len(nodes) > 0
	}
	for _, p := range pods {
		if x := &p.Value; x.Node != "" && !x.Finished() && !x.Deleting && nodes[x.Node] == nil {
			return false
		}
	}
	return true
}
