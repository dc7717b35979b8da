package scenarios

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"ipamsim/scenarios/strict"
	"ipamsim/sim/cluster/action"
	"ipamsim/sim/ipam"
	"ipamsim/sim/ipam/interfaceplugin"
)

// timeline checks every entry: its time, its one action, and that what the action
// names is there.
func (l *loader) timeline() error {
	s, c := l.s.Doc.Spec, &check{doc: l.doc}
	if n := len(s.Timeline); n > linesMax {
		return l.doc.FailAt(at("spec", "timeline"), "%d entries, want at most %d", n, linesMax)
	}
	if err := l.arrivals(c); err != nil {
		return err
	}
	for i := range s.Timeline {
		e, p := s.Timeline[i], at("spec", "timeline", i)
		c.bad(e.At.Duration > s.Until.Duration, p.Then("at"), "%s is after spec.until, %s", brief(e.At), brief(s.Until))
		l.acts(c, e, p.Then(e.Kind()))
	}
	return c.err
}

// arrivals notes the nodes and objects that come with the timeline, so that
// entries may name them whatever the order in the file.
func (l *loader) arrivals(c *check) error {
	for i := range l.s.Doc.Spec.Timeline {
		e := &l.s.Doc.Spec.Timeline[i]
		p := at("spec", "timeline", i)
		switch a := e.Action.(type) {
		case *action.ReplaceNode:
			if a.As == "" || a.As == a.Node {
				continue
			}
			c.must(badName(a.As), p.Then("replace").Then("as"))
			c.bad(l.nodes[a.As] && !l.leaves(a.As), p.Then("replace").Then("as"), "node %s already exists", a.As)
			l.arrival(a.As, e.At.Duration)
		case *action.Apply:
			id, err := l.apply(a, p.Then("apply").Then("object"))
			if err != nil {
				return err
			}
			if id.kind == "Node" {
				l.arrival(id.name, e.At.Duration)
			}
		}
	}
	return c.err
}

// arrival notes when a node comes that is not there from the start.
func (l *loader) arrival(node string, at time.Duration) {
	if from, later := l.arrives[node]; l.nodes[node] && (!later || from <= at) {
		return
	}
	l.nodes[node], l.arrives[node] = true, at
}

// leaves reports whether a node is replaced or deleted at some time, so that its
// name may come again.
func (l *loader) leaves(node string) bool {
	return slices.ContainsFunc(l.s.Doc.Spec.Timeline, func(e Event) bool {
		switch a := e.Action.(type) {
		case *action.ReplaceNode:
			return a.Node == node
		case *action.Delete:
			return a.Resource == "nodes" && a.Name == node
		}
		return false
	})
}

// apply checks an object to apply as if it were a manifest of the file.
func (l *loader) apply(a *action.Apply, p path) (id identity, err error) {
	d := l.doc.Inside(p)
	if strict.Text(d.Root, "kind") == attachmentKind {
		return id, d.FailAt(at("kind"), "a NetworkAttachmentDefinition must exist from the start: make it a separate document")
	}
	if id, _, err = l.object(d); err != nil {
		return id, err
	}
	// As written, not as typed: in an update, null takes a field away.
	if a.Object, err = d.Raw(d.Root); err != nil {
		return id, err
	}
	if l.s.docs[id] == nil {
		l.s.docs[id] = d
	}
	return id, l.attached(d, id)
}

// acts checks one action at its time; p leads to it.
func (l *loader) acts(c *check, e Event, p path) {
	if k := action.Of(e.Action); k.Check != nil {
		k.Check(&actionCheck{l, c, e.At.Duration, p}, e.Action)
	}
}

// actionCheck is what the check of an action may ask: action.Checker.
type actionCheck struct {
	*loader
	c   *check
	now time.Duration
	p   path
}

func (a *actionCheck) must(problem, field string) { a.c.must(problem, a.p.Then(field)) }

// Bad implements action.Checker.
func (a *actionCheck) Bad(is bool, part action.Part, format string, args ...any) {
	p := a.p
	for _, step := range part {
		p = p.Then(step)
	}
	a.c.bad(is, p, format, args...)
}

// Node implements action.Checker.
func (a *actionCheck) Node(name, field string) {
	a.must(a.badNode(name), field)
	a.must(a.early(name, a.now), field)
}

// Process implements action.Checker.
func (a *actionCheck) Process(name, what, field string) {
	a.c.bad(name == "", a.p.Then(field), "empty, want the name of %s", what)
	a.must(a.badActor(name), field)
}

// Workload implements action.Checker.
func (a *actionCheck) Workload(kind, namespace, name, field string) {
	id := identity{kind, namespace, name}
	if a.s.docs[id] != nil {
		return
	}
	var same []string
	for other := range a.s.docs {
		if other.kind == id.kind {
			same = append(same, other.namespace+"/"+other.name)
		}
	}
	full := id.namespace + "/" + id.name
	a.c.bad(true, a.p.Then(field), "there is no %s %s, %s", kind, strict.Quote(full), strict.Want(full, same))
}

// Resource implements action.Checker.
func (a *actionCheck) Resource(name, field string) {
	a.must(a.badResource(name), field)
	a.c.bad(a.readOnce(name), a.p.Then(field), onceOnly)
}

// Object implements action.Checker.
func (a *actionCheck) Object(name, field string) { a.must(badSegment(name), field) }

// Reconciler implements action.Checker.
func (a *actionCheck) Reconciler(name, field string) {
	a.must(badRole(name, a.ipam.Name, "reconciler", passes(a.ipam), daemons(a.ipam)), field)
}

// Daemon implements action.Checker.
func (a *actionCheck) Daemon(name, field string) {
	a.must(badRole(name, a.ipam.Name, "daemon", daemons(a.ipam), passes(a.ipam)), field)
}

// Manager implements action.Checker.
func (a *actionCheck) Manager() *ipam.Manager { return a.ipam }

// Scope implements action.Checker.
func (a *actionCheck) Scope() action.Scope { return a.s.hazardScope() }

// Nodes implements action.Checker.
func (a *actionCheck) Nodes() []string { return names(a.nodes) }

// PluginTypes implements action.Checker.
func (a *actionCheck) PluginTypes() []string {
	known := interfaceplugin.NewFaults(a.ipam.Plugin)
	for _, n := range a.s.Networks {
		known.Network(n.Key, n.Config)
	}
	return known.Types()
}

// Until implements action.Checker.
func (a *actionCheck) Until() time.Duration { return a.s.Doc.Spec.Until.Duration }

// Left implements action.Checker.
func (a *actionCheck) Left() time.Duration { return a.Until() - a.now }

// Quote implements action.Checker.
func (a *actionCheck) Quote(text string) string { return strict.Quote(text) }

// Want implements action.Checker.
func (a *actionCheck) Want(text string, known []string) string { return strict.Want(text, known) }

func (l *loader) badResource(name string) string {
	all := l.resources()
	if slices.Contains(all, name) {
		return ""
	}
	if k, ok := l.kinds[name]; ok {
		return fmt.Sprintf("%s is a kind, want the resource: %s", strict.Quote(name), k.plural)
	}
	plain := slices.DeleteFunc(slices.Clone(all), func(s string) bool { return strings.Contains(s, ".") })
	if near := strict.Nearest(name, all); near != "" {
		return fmt.Sprintf("%s is not a resource, did you mean %q?", strict.Quote(name), near)
	}
	return strict.Quote(name) + " is no resource, " + strict.Want(name, plain)
}

const onceOnly = "a NetworkAttachmentDefinition is read once, before the first step: changing it would have no effect"

func (l *loader) readOnce(resource string) bool {
	plural, _, _ := strings.Cut(resource, ".")
	return plural == l.kinds[attachmentKind].plural
}

// badSegment describes why a name cannot be part of a URL path; "" if it can.
func badSegment(name string) string {
	if name == "" {
		return ""
	}
	return badName(name)
}
