package dump

import (
	"net/netip"
	"slices"
	"strings"

	"ipamsim/model"
	"ipamsim/model/invariant"
	"ipamsim/reports/layout"
	"ipamsim/scenarios"

	"ipamsim/scenarios/dump/evidence"
	"ipamsim/scenarios/dump/kept"
)

// Absent is a pod that is not in the dump, and the addresses that are claimed for it. Nothing
// shows that the pod is gone: kubectl get pods without --all-namespaces, with a selector, or
// one file for each object are a part of the pods.
type Absent struct {
	Pod   string // namespace/name
	Addrs []netip.Addr
	Named bool // another object of the dump names the pod
	// Claimed: the pod is taken to run, with these addresses; else they are only reserved.
	Claimed bool
}

// known reports whether the dump shows that a pod which it does not have is gone, or the
// manager's own tool has found that no pod has what is claimed for it.
func known(a *evidence.Absence, ref string, claims []Claim) bool {
	var nodes []string
	unused := true
	for _, cl := range claims {
		nodes, unused = append(nodes, cl.Node), unused && cl.Unused
	}
	return unused || a.Known(ref, nodes)
}

// unseen assumes that addresses claimed for pods outside the dump are in use, unless the dump
// shows that the pods are gone: a claim of a running pod must not be reported as leaked.
func (d *Draft) unseen(claims map[string][]Claim) {
	a := d.Absences(d.Pods, d.Cluster.Nodes, d.Namespaces)
	of, spaces, runs := map[string][]Claim{}, map[string]bool{}, map[string]bool{}
	for _, r := range d.Running {
		runs[r.Ref()] = true
	}
	for ref, all := range claims {
		if d.Pods[ref] == nil && !known(a, ref, all) && !runs[ref] {
			namespace, _, _ := strings.Cut(ref, "/")
			of[ref], spaces[namespace] = all, true
		}
	}
	d.whole = a.Whole() && len(of) == 0
	d.unseenGuards(a, of)
	if len(of) == 0 {
		return
	}
	d.fromClaims(of)
	d.partly = append(d.partly, scenarios.Unjudged{What: []string{invariant.LeakedClaim.Name}, Without: []string{"pods"}, Namespaces: kept.Keys(spaces), Incomplete: true})
	for _, ref := range kept.Keys(of) {
		d.absent(ref, of[ref], true)
	}
	d.Unknown("whether %s: %s; assumed to run, so that no address in use is reported as leaked", layout.Count(len(of), "pod with a claimed address that is not in the dump runs", "pods with claimed addresses that are not in the dump run"), d.Some(kept.Keys(of)))
}

// unheard reports pods without an address yet on nodes that the dump does not have: whether they
// have waited for long is not known, nor whether what is claimed for them is theirs.
func (d *Draft) unheard(pods []string) {
	spaces := map[string]bool{}
	for _, ref := range pods {
		if p := &d.Pods[ref].Value; d.Cluster.Nodes[p.Node] == nil {
			spaces[p.Namespace] = true
		}
	}
	if len(spaces) > 0 {
		d.Doubt(scenarios.Unjudged{What: []string{invariant.LeakedClaim.Name}, Without: []string{"nodes"}, Namespaces: kept.Keys(spaces)})
	}
}

// absent reports a pod.
func (d *Draft) absent(ref string, claims []Claim, claimed bool) {
	x := Absent{Pod: ref, Named: d.Named(ref), Claimed: claimed}
	for _, cl := range claims {
		x.Addrs = append(x.Addrs, cl.Addr)
	}
	slices.SortFunc(x.Addrs, netip.Addr.Compare)
	d.report.Absent = append(d.report.Absent, x)
}

// unseenGuards reports the pods for which an address is only reserved.
func (d *Draft) unseenGuards(a *evidence.Absence, of map[string][]Claim) {
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
		if !known(a, ref, guards[ref]) {
			d.whole = false
			d.absent(ref, guards[ref], false)
		}
	}
}

// nodesKnown reports whether the dump shows that it has all nodes.
func (d *Draft) nodesKnown() bool { return d.Book.Nodes(d.Pods, d.Cluster.Nodes) }

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

// Missing returns the pods that may exist although the dump lacks them, for the scenario that was
// made last; none if names are replaced.
func (c *Cluster) Missing() []Absent {
	if c.masked {
		return nil
	}
	return c.missing
}

// Supplied reports whether a violation is about a node that the dump does not have, on which
// the pod runs or which cannot reach it: what routes it has is not known.
func (c *Cluster) Supplied(v *model.Violation, node string) bool {
	if v.Invariant == invariant.DuplicateAddress.Name && !c.SawKind("Pod") {
		return false // the manager's tool names two pods that have it: nothing of it hangs on nodes
	}
	return v.Invariant == invariant.BlackholedAddress.Name && c.supplied[node] ||
		slices.ContainsFunc(v.Objects, func(o model.Ref) bool { return o.Kind == model.RefNode && c.supplied[o.Name] })
}

// Concluded reports whether a violation of the record follows from the absence of objects of
// which nothing shows that they are absent from the cluster, or from an address that its pod
// has not reported yet. node is where its pod runs.
func (c *Cluster) Concluded(v *model.Violation, r *model.Snapshot, node string) bool {
	if slices.ContainsFunc(v.Objects, func(o model.Ref) bool { return o.Kind == model.RefPod && c.absent[o.Name] }) {
		return true
	}
	if c.supplied[node] && v.Invariant == invariant.UnbackedSandbox.Name {
		return true // the manager may not serve its node
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
