package scenarios

import (
	"slices"
	"strings"
)

// badActor says that a process can never be there because its node is not, or "". What
// else processes are called, the schedule log tells; one that is not there when its
// time comes is an error of the operator's that the story shows.
func (l *loader) badActor(actor string) string {
	if actor == "" {
		return ""
	}
	name, _, _ := strings.Cut(actor, "~") // its second life, and so on
	head, rest, parts := strings.Cut(name, "/")
	known := daemons(l.ipam)
	switch {
	case parts && (head == "kubelet" || perNode(l.ipam, head)):
		node, _, _ := strings.Cut(rest, "/")
		return l.badNode(node)
	case parts, l.nodes[name], slices.Contains(known, name):
		return ""
	}
	all := append(names(l.nodes), known...)
	if near := nearest(name, all); near != "" {
		return "there is no node and no process " + quote(name) + ", " + want(name, all)
	}
	return ""
}

// placed refuses pods for a node that there never is: nobody would ever start them.
func (l *loader) placed() error {
	for _, o := range l.s.Objects {
		meta, ok := templates[o.Kind]
		if !ok {
			continue
		}
		d, p := l.s.docs[identity{o.Kind, o.Namespace, o.Name}], append(meta[:len(meta)-1:len(meta)-1], "spec", "nodeName")
		if name := text(d.root, p...); name != "" && !l.nodes[name] {
			return d.failAt(p, "%s", l.badNode(name))
		}
	}
	return nil
}
