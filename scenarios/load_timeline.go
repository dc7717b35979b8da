package scenarios

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"ipamsim/model/route"
	"ipamsim/scenarios/strict"
	"ipamsim/sim/cluster"
	"ipamsim/sim/cluster/action"
	"ipamsim/sim/cluster/hazard"
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
		act, err := e.action()
		if err != nil {
			return l.doc.FailAt(p, "%s", strict.OneLine(err))
		}
		c.bad(e.At.Duration > s.Until.Duration, p.Then("at"), "%s is after spec.until, %s", brief(e.At), brief(s.Until))
		l.acts(c, act, e.At.Duration, p.Then(actionName(e)))
	}
	return c.err
}

// Kind of the entry's action, as the file has it: "scale".
func (e Event) Kind() string { return actionName(e) }

// actionName is the key under which an entry has its action.
func actionName(e Event) string {
	b, err := json.Marshal(e)
	var given map[string]json.RawMessage
	if err != nil || json.Unmarshal(b, &given) != nil {
		return ""
	}
	for _, name := range actionNames() {
		if _, ok := given[name]; ok {
			return name
		}
	}
	return ""
}

// arrivals notes the nodes and objects that come with the timeline, so that
// entries may name them whatever the order in the file.
func (l *loader) arrivals(c *check) error {
	for i := range l.s.Doc.Spec.Timeline {
		e := &l.s.Doc.Spec.Timeline[i]
		p := at("spec", "timeline", i)
		if e.Replace != nil && e.Replace.As != "" && e.Replace.As != e.Replace.Node {
			c.must(badName(e.Replace.As), p.Then("replace").Then("as"))
			c.bad(l.nodes[e.Replace.As] && !l.leaves(e.Replace.As), p.Then("replace").Then("as"), "node %s already exists", e.Replace.As)
			l.arrival(e.Replace.As, e.At.Duration)
		}
		if e.Apply != nil {
			id, err := l.apply(e.Apply, p.Then("apply").Then("object"))
			if err != nil {
				return err
			}
			c.bad(e.Apply.ForceConflicts && !e.Apply.ServerSide, p.Then("apply").Then("forceConflicts"), "only with serverSide: true")
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
		return e.Replace != nil && e.Replace.Node == node || e.Delete != nil && e.Delete.Resource == "nodes" && e.Delete.Name == node
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

// actor checks the name of what an action happens to.
func (l *loader) actor(c *check, name, what string, p path) {
	c.bad(name == "", p.Then("actor"), "empty, want the name of %s", what)
	c.must(l.badActor(name), p.Then("actor"))
}

// acts checks one action at its time; p leads to it.
func (l *loader) acts(c *check, act cluster.Action, now time.Duration, p path) {
	there := func(name, field string) {
		c.must(l.badNode(name), p.Then(field))
		c.must(l.early(name, now), p.Then(field))
	}
	node := func(name string) { there(name, "node") }
	if m, ok := act.(cluster.OnMachine); ok {
		node(m.Machine())
		drains(c, act, p)
		return
	}
	switch a := act.(type) {
	case *action.ClockJump:
		if a.Node != "" {
			node(a.Node)
		}
		clockJump(c, a, p)
	case *action.DiskFault:
		node(a.Node)
		l.diskFault(c, a, p)
	case *action.PluginFault:
		node(a.Node)
		l.pluginFault(c, a, now, p)
	case *action.CloudFault:
		l.cloudFault(c, a, p)
	case *action.Second:
		l.second(c, a, p)
	case *action.CutSession:
		field, problem := route.CheckSessions("", []route.Session{{A: a.A, B: a.B}}, names(l.nodes))
		if _, end, ok := strings.Cut(field, "."); ok {
			c.must(problem, p.Then(end))
		}
	case *action.Kill:
		l.actor(c, a.Actor, "a process", p)
	case *action.Terminate:
		l.actor(c, a.Actor, "a process", p)
	case *action.Pause:
		l.actor(c, a.Actor, "a process or a node", p)
	case *action.NoSpace:
		c.bad(a.For.Duration <= 0, p.Then("for"), "missing: for how long, e.g. 1m")
	case *action.Reconcile:
		c.must(badRole(a.Name, l.ipam.Name, "reconciler", passes(l.ipam), daemons(l.ipam)), p.Then("name"))
		c.bad(a.Count < 0 || a.Count > passesMax, p.Then("count"), "want 1 to %d concurrent passes", passesMax)
		if a.Node != "" {
			node(a.Node)
		}
	case *action.Command:
		if a.Node != "" {
			node(a.Node)
		}
		if err := action.CheckCommand(l.ipam, a); err != nil {
			c.bad(true, p.Then("run"), "%s", strict.OneLine(err))
		}
	case *action.Scale:
		l.scale(c, a, p)
	case *action.Delete:
		c.must(l.badResource(a.Resource), p.Then("resource"))
		c.bad(l.readOnce(a.Resource), p.Then("resource"), onceOnly)
		c.bad(a.All == (a.Name != ""), p, "want either name or all: true")
		c.must(badSegment(a.Name), p.Then("name"))
		if a.Resource == nodesResource && a.Name != "" {
			there(a.Name, "name")
		}
	case *action.Patch:
		l.patch(c, a, p)
		if a.Resource == nodesResource && a.Name != "" {
			there(a.Name, "name")
		}
	}
}

func clockJump(c *check, a *action.ClockJump, p path) {
	c.bad(a.By.Duration == 0, p.Then("by"), "missing: by how much, e.g. 10m")
	c.bad(a.By.Duration > jumpMax, p.Then("by"), "%s is too far, want at most a year", brief(a.By))
}

func (l *loader) diskFault(c *check, a *action.DiskFault, p path) {
	c.must(hazard.Check("disk", l.s.hazardScope()), p)
	c.bad(a.By.Duration > 0 && a.Fault != "slow", p.Then("by"), "only of a slow disk")
}

func (l *loader) cloudFault(c *check, a *action.CloudFault, p path) {
	c.must(hazard.Check("cloud", l.s.hazardScope()), p)
	c.bad(a.Share != 0 && (a.Share < 0.05 || a.Share > 1), p.Then("share"), "want 0.05 to 1, a share of calls")
	c.bad(a.Share != 0 && a.Fault == "slow", p.Then("share"), "a slow cloud is slow for all calls")
	c.bad(a.By.Duration > 0 && a.Fault != "slow", p.Then("by"), "only of a slow cloud")
}

// drains checks a drain, which waits for nothing that it does not evict.
func drains(c *check, act cluster.Action, p path) {
	if a, ok := act.(*action.Drain); ok {
		c.bad(a.Timeout.Duration != 0 && (a.Force || a.DisableEviction), p.Then("timeout"), "only of evictions")
	}
}

// nodesResource is the resource of nodes, which only the file creates.
const nodesResource = "nodes"

// jumpMax is how far a clock may jump. Virtual time begins in the year 2000, and
// every date must have four digits.
const jumpMax = 366 * 24 * time.Hour

func (l *loader) second(c *check, a *action.Second, p path) {
	c.must(badRole(a.Daemon, l.ipam.Name, "daemon", daemons(l.ipam), passes(l.ipam)), p.Then("daemon"))
	c.bad(perNode(l.ipam, a.Daemon), p.Then("daemon"), "%s runs on each node and has no second instance", a.Daemon)
}

func (l *loader) scale(c *check, a *action.Scale, p path) {
	id := identity{a.Kind, a.Namespace, a.Name}
	if id.namespace == "" {
		id.namespace = "default"
	}
	if l.s.docs[id] == nil {
		var same []string
		for other := range l.s.docs {
			if other.kind == id.kind {
				same = append(same, other.namespace+"/"+other.name)
			}
		}
		full := id.namespace + "/" + id.name
		c.bad(true, p.Then("name"), "there is no %s %s, %s", a.Kind, strict.Quote(full), strict.Want(full, same))
	}
	c.bad(a.Replicas < 0, p.Then("replicas"), "must not be negative")
}

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

// jsonPatchOps are those of RFC 6902, and whether they need a value.
var jsonPatchOps = map[string]bool{"add": true, "copy": false, "move": false, "remove": false, "replace": true, "test": true}

func (l *loader) patch(c *check, a *action.Patch, p path) {
	c.must(l.badResource(a.Resource), p.Then("resource"))
	c.bad(l.readOnce(a.Resource), p.Then("resource"), onceOnly)
	c.must(badSegment(a.Name), p.Then("name"))
	c.bad(a.Name == "", p.Then("name"), "an empty name")
	c.bad(a.Subresource != "" && a.Subresource != "status" && a.Subresource != "scale", p.Then("subresource"),
		"%s is not a subresource, want status or scale", strict.Quote(a.Subresource))
	c.bad((len(a.JSON) > 0) == (len(a.Merge) > 0), p, "want either json (a list of operations) or merge (a part of the object)")
	for i, op := range a.JSON {
		q := p.Then("json").Then(i)
		name, _ := op["op"].(string)
		needs, known := jsonPatchOps[name]
		c.bad(!known, q.Then("op"), "%s is no operation, %s", strict.Quote(name), strict.Want(name, names(jsonPatchOps)))
		where, ok := op["path"].(string)
		c.bad(!ok || !strings.HasPrefix(where, "/"), q.Then("path"), "want a path that begins with /, e.g. /spec/allocations/7")
		_, has := op["value"]
		c.bad(needs && !has, q.Then("value"), "missing, %s needs one", name)
	}
}
