package dump

import (
	"net/netip"
	"slices"
	"strings"

	"ipamsim/model"
	"ipamsim/model/invariant"
	"ipamsim/scenarios"

	"ipamsim/scenarios/dump/kept"
)

// Absent is a pod that is not in the dump, and the addresses that are claimed for it. Nothing
// shows that the pod is gone: kubectl get pods without --all-namespaces, with a selector, or
// one file for each object are a part of the pods.
type Absent struct {
	Pod   string // namespace/name
	Addrs []netip.Addr
	Named bool // another object of the dump says that the pod is there
	// Claimed: the pod is taken to run, with these addresses; else they are only reserved.
	Claimed bool
}

// absence is what the dump shows about pods that it does not have.
type absence struct {
	*Draft
	shown  map[string]bool // namespaces and nodes of which the dump has a pod
	short  map[string]bool // namespaces of which other objects say that they have more pods
	owners map[string]bool // NAMESPACE/NAME of controllers that have more pods than the dump has
	bare   []string        // nodes that are Ready, and of which the dump has no pod
	nodes  bool            // the dump shows that it has all nodes
	spaces bool            // the dump shows that it has all namespaces
}

// absences reads what other objects say about the pods: the number of pods that controllers
// have, the pods that EndpointSlices name, and the nodes, which all run pods of DaemonSets.
func (d *Draft) absences() *absence {
	a := &absence{Draft: d, shown: map[string]bool{}, short: map[string]bool{}, owners: map[string]bool{}, nodes: d.nodesKnown()}
	have := map[string]int{}
	a.spaces = d.evidence("namespaces")&Counted != 0 && len(d.Namespaces) > 0
	for _, p := range d.Pods {
		a.spaces = a.spaces && d.Namespaces[p.Value.Namespace] != nil
		a.shown[p.Value.Namespace], a.shown["node "+p.Value.Node] = true, true
		if o := p.Value.Owner; o.Kind != "" && !p.Value.Finished() {
			have[o.Kind+" "+p.Value.Namespace+"/"+o.Name]++
		}
	}
	for key, w := range d.Cluster.workloads {
		if _, ref, _ := strings.Cut(key, " "); have[key] < w.Value.Pods {
			namespace, _, _ := strings.Cut(ref, "/")
			a.short[namespace], a.owners[ref] = true, true
		}
	}
	for ref := range d.alive {
		if d.Pods[ref] == nil {
			namespace, _, _ := strings.Cut(ref, "/")
			a.short[namespace] = true
		}
	}
	for _, name := range d.Cluster.Nodes.Keys() {
		if n := &d.Cluster.Nodes[name].Value; !n.NotReady && !n.Windows && !a.shown["node "+name] {
			a.bare = append(a.bare, name)
		}
	}
	return a
}

// known reports whether the dump shows that a pod which it does not have is gone. A list that
// counts its own objects is believed but for the pods that another object names: it may be
// older. A list that is only said to be complete is not believed where anything contradicts it.
func (a *absence) known(ref string, claims []Claim) bool {
	namespace, name, _ := strings.Cut(ref, "/")
	named := a.alive[ref] || slices.ContainsFunc(kept.Keys(a.owners), func(o string) bool { return strings.HasPrefix(ref, o+"-") })
	elsewhere := func(cl Claim) bool {
		return cl.Node != "" && !a.shown["node "+cl.Node] && (a.Cluster.Nodes[cl.Node] != nil || !a.nodes)
	}
	switch {
	case name == "" || !slices.ContainsFunc(claims, func(cl Claim) bool { return !cl.Unused }):
		return true // no pod's, or the manager's own tool has found that no pod has it
	case named:
		return false
	case a.evidence("pods")&Counted != 0, a.spaces && a.Namespaces[namespace] == nil:
		return true
	case a.short[namespace]:
		return false
	case a.inNamespace("pods", namespace):
		return true
	}
	return a.evidence("pods")&Said != 0 && a.shown[namespace] && len(a.bare) == 0 && !slices.ContainsFunc(claims, elsewhere)
}

// whole reports whether nothing contradicts that the dump has all pods.
func (a *absence) whole() bool {
	e := a.evidence("pods")
	return e&Counted != 0 && len(a.owners) == 0 || e&Said != 0 && len(a.short)+len(a.bare) == 0
}

// unseen takes what is claimed for pods that are not in the dump to be in use, unless the
// dump shows that they are gone: no claim of a pod that lives may be called leaked.
func (d *Draft) unseen(claims map[string][]Claim) {
	a := d.absences()
	of, spaces := map[string][]Claim{}, map[string]bool{}
	for ref, all := range claims {
		if d.Pods[ref] == nil && !a.known(ref, all) && !d.runs(ref) {
			namespace, _, _ := strings.Cut(ref, "/")
			of[ref], spaces[namespace] = all, true
		}
	}
	d.whole = a.whole() && len(of) == 0
	d.unseenGuards(a, of)
	if len(of) == 0 {
		return
	}
	d.fromClaims(of)
	d.partly = append(d.partly, scenarios.Unjudged{What: []string{invariant.LeakedClaim.Name}, Without: []string{"pods"}, Namespaces: kept.Keys(spaces), Incomplete: true})
	for _, ref := range kept.Keys(of) {
		d.absent(ref, of[ref], true)
	}
	d.Unknown("whether %s: %s; taken to run, so that no address in use is called leaked", Plural(len(of), "pod runs that has an address claimed and is not in the dump", "pods run that have addresses claimed and are not in the dump"), d.Some(kept.Keys(of)))
}

// absent reports a pod.
func (d *Draft) absent(ref string, claims []Claim, claimed bool) {
	x := Absent{Pod: ref, Named: d.alive[ref], Claimed: claimed}
	for _, cl := range claims {
		x.Addrs = append(x.Addrs, cl.Addr)
	}
	slices.SortFunc(x.Addrs, netip.Addr.Compare)
	d.report.Absent = append(d.report.Absent, x)
}

// unseenGuards reports the pods for which an address is only reserved.
func (d *Draft) unseenGuards(a *absence, of map[string][]Claim) {
	guards := map[string][]Claim{}
	for _, r := range d.present {
		if r.record.Guards != nil {
			for _, cl := range r.record.Guards() {
				if d.Pods[cl.Pod] == nil && of[cl.Pod] == nil {
					guards[cl.Pod] = append(guards[cl.Pod], cl)
				}
			}
		}
	}
	for _, ref := range kept.Keys(guards) {
		if !a.known(ref, guards[ref]) {
			d.whole = false
			d.absent(ref, guards[ref], false)
		}
	}
}

// runs reports whether a pod was concluded already.
func (d *Draft) runs(ref string) bool {
	return slices.ContainsFunc(d.Running, func(r Running) bool { return r.Ref() == ref })
}

// nodesKnown reports whether the dump shows that it has all nodes: a pod on another one
// contradicts a list that was not counted.
func (d *Draft) nodesKnown() bool {
	e := d.evidence("nodes")
	for _, r := range d.resources {
		if r.Kind == "Node" {
			e |= d.evidence(r.Name())
		}
	}
	if e == 0 || len(d.Cluster.Nodes) == 0 || e&Counted != 0 {
		return e != 0 && len(d.Cluster.Nodes) > 0
	}
	for _, p := range d.Pods {
		if x := &p.Value; x.Node != "" && !x.Finished() && !x.Deleting && d.Cluster.Nodes[x.Node] == nil {
			return false
		}
	}
	return true
}

// unseenNodes adds the nodes that records name and the dump does not have, unless it shows that
// they are gone.
func (d *Draft) unseenNodes(add func(string)) {
	if d.nodesKnown() {
		return
	}
	for _, r := range d.present {
		if r.record.Nodes != nil {
			for _, n := range r.record.Nodes() {
				add(n)
			}
		}
	}
	for _, cl := range d.claims() {
		add(cl.Node)
	}
}

// incomplete is what cannot be judged because nothing shows that the dump has all objects of
// some resources, nil if there are none.
func (d *Draft) incomplete() *scenarios.Unjudged {
	u := scenarios.Unjudged{Incomplete: true}
	for i := range d.resources {
		r := &d.resources[i]
		if !d.Saw(r.Name()) || d.shows(r) {
			continue
		}
		if what := d.hang(r); len(what) > 0 {
			u.What, u.Without = append(u.What, what...), append(u.Without, r.Name())
		}
	}
	if len(u.What) == 0 {
		return nil
	}
	slices.Sort(u.What)
	u.What = slices.Compact(u.What)
	return &u
}

// shows reports whether the dump shows that it has all objects of a resource.
func (d *Draft) shows(r *Resource) bool {
	switch r.Kind {
	case "Pod":
		return d.whole
	case "Node":
		return d.nodesKnown()
	}
	return d.SawAll(r.Name())
}

// Missing are the pods of which nothing shows that they are gone, by the scenario that was
// made last; none where names are replaced.
func (c *Cluster) Missing() []Absent {
	if c.masked {
		return nil
	}
	return c.missing
}

// Supplied reports whether a violation is about a node that the dump does not have, on which
// the pod runs or which cannot reach it: what routes it has is not known.
func (c *Cluster) Supplied(v *model.Violation, node string) bool {
	return v.Invariant == invariant.BlackholedAddress.Name && c.supplied[node] ||
		slices.ContainsFunc(v.Objects, func(o model.Ref) bool { return o.Kind == model.RefNode && c.supplied[o.Name] })
}

// Concluded reports whether a violation of the record follows from the absence of objects of
// which nothing shows that they are absent from the cluster. node is where its pod runs.
func (c *Cluster) Concluded(v *model.Violation, r *model.Snapshot, node string) bool {
	pod := model.Named(v.Objects, model.RefPod)
	if pod != "" && slices.ContainsFunc(c.missing, func(a Absent) bool { return a.Pod == pod }) {
		return true
	}
	if c.supplied[node] && v.Invariant == invariant.UnbackedSandbox.Name {
		return true // whose node may be one that the manager does not serve
	}
	for _, x := range c.readings {
		if x.Concluded == nil || !c.judged[x.manager.Name] {
			continue
		}
		if slices.ContainsFunc(x.Concluded(v, r), func(name string) bool { return !c.SawAll(name) }) {
			return true
		}
	}
	return false
}
