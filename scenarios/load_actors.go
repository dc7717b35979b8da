package scenarios

import (
	"slices"
	"strings"

	"ipamsim/scenarios/strict"
)

// badActor reports a process that can never exist because its node does not exist, or "". The schedule
// log has the names of other processes; one that does not exist at its time is an operator error that
// the story shows.
func (l *loader) badActor(actor string) string {
	if actor == "" {
		return ""
	}
	name, _, _ := strings.Cut(actor, "~") // ~2 is its second incarnation, and so on
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
	if near := strict.Nearest(name, all); near != "" {
		return "there is no node and no process " + strict.Quote(name) + ", " + strict.Want(name, all)
	}
	return ""
}

// placed refuses pods for a node that never exists: they would never start.
func (l *loader) placed() error {
	for _, o := range l.s.Objects {
		meta, ok := templates[o.Kind]
		if !ok {
			continue
		}
		d, p := l.s.docs[identity{o.Kind, o.Namespace, o.Name}], append(meta[:len(meta)-1:len(meta)-1], "spec", "nodeName")
		if name := strict.Text(d.Root, p...); name != "" && !l.nodes[name] {
			return d.FailAt(p, "%s", l.badNode(name))
		}
	}
	return nil
}
