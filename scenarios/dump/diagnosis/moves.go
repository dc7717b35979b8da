package diagnosis

import (
	"cmp"
	"maps"
	"net/netip"
	"slices"

	"ipamsim/model"
	"ipamsim/model/invariant"
	"ipamsim/scenarios/remedy"
	"ipamsim/sim/ipam"
)

// MovedMax is how many pods are moved by one remedy.
const MovedMax = 200

// Move returns the steps that give pods another address: pods that a controller recreates are
// restarted, virtual machines migrate. Ruled are the pods that can do neither; they stay as
// they are.
func (d *Drafts) Move(pods []model.PodRef, elsewhere bool) (steps []remedy.Step, moved []model.PodRef, ruled []remedy.Ruled) {
	var restart []model.PodRef
	for _, p := range pods {
		if r := d.Facts.Ruled(p); r.Why != remedy.Movable {
			ruled = append(ruled, r)
			continue
		}
		moved = append(moved, p)
		if vm, ok := d.Facts.Machine(p); ok {
			steps = append(steps, remedy.Migrate{Machine: vm, Pod: p, Node: d.Facts.Node(p)})
		} else {
			restart = append(restart, p)
		}
	}
	if len(restart) > 0 {
		steps = append([]remedy.Step{remedy.Restart{Pods: restart, Elsewhere: elsewhere}}, steps...)
	}
	return steps, moved, ruled
}

// away moves pods off a node, and uncordons the node afterwards if it was not cordoned before.
func (d *Drafts) away(node string, pods []model.PodRef) remedy.Remedy {
	steps, moved, _ := d.Move(pods, true)
	if d.Facts.Exists(node) && !d.Facts.Cordoned(node) {
		steps = append([]remedy.Step{remedy.Cordon{Nodes: []string{node}}}, append(steps, remedy.Uncordon{Nodes: []string{node}})...)
	}
	return remedy.Remedy{Steps: steps, Pods: moved, Cautions: []remedy.Caution{remedy.PodCaution}}
}

// relocate adds the problem of pods on one node that need another address: the first remedy
// restarts them, the second moves them off the node.
func (d *Drafts) relocate(about []int, node string, pods []model.PodRef) {
	steps, moved, ruled := d.Move(pods, false)
	p := remedy.Problem{Ruled: ruled}
	if len(moved) > 0 && len(moved) <= MovedMax {
		p.Try = []remedy.Remedy{{Steps: steps, Pods: moved, Cautions: []remedy.Caution{remedy.PodCaution}}, d.away(node, pods)}
	}
	d.Add(about, p)
}

// unreachable adds the pods that a node cannot reach and that no other problem covers, by
// their nodes.
func (d *Drafts) unreachable() {
	type stuck struct {
		about []int
		pods  []model.PodRef
	}
	on := map[string]*stuck{}
	for _, i := range d.Open(invariant.BlackholedAddress.Name) {
		p := PodRef(ObjectsOf(&d.Findings.All[i].Violation)[model.RefPod])
		node := d.View.Truth.Pods[p].Node
		if node == "" {
			continue // a tunnel's
		}
		if d.Facts.Obstacle(p) != remedy.Movable {
			node += " " + p.String() // a problem of its own
		}
		if on[node] == nil {
			on[node] = &stuck{}
		}
		on[node].about, on[node].pods = append(on[node].about, i), append(on[node].pods, p)
	}
	for _, key := range slices.Sorted(maps.Keys(on)) {
		s := on[key]
		slices.SortFunc(s.pods, ByPod)
		s.pods = slices.Compact(s.pods)
		d.relocate(s.about, d.Facts.Node(s.pods[0]), s.pods)
	}
}

// ByPod compares pods by namespace and name.
func ByPod(a, b model.PodRef) int {
	return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
}

// duplicates adds the addresses that two pods have. The pod that the record names keeps it.
func (d *Drafts) duplicates(known []*ipam.Manager) {
	by := map[string][]int{}
	for _, i := range d.Open(invariant.DuplicateAddress.Name) {
		a := ObjectsOf(&d.Findings.All[i].Violation)[model.RefAddress]
		by[a] = append(by[a], i)
	}
	for _, a := range slices.Sorted(maps.Keys(by)) {
		addr, err := netip.ParseAddr(a)
		if err != nil {
			continue
		}
		p := remedy.Problem{}
		rightful, others := d.holders(addr)
		if d.undecided[a] {
			rightful, others = others, nil // the claim that decides may not be in the dump
		}
		for _, pod := range append(others, rightful...) {
			steps, moved, ruled := d.Move([]model.PodRef{pod}, false)
			p.Ruled = append(p.Ruled, ruled...)
			if len(moved) > 0 && !slices.Contains(rightful, pod) {
				p.Try = append(p.Try, remedy.Remedy{Steps: steps, Pods: moved, Cautions: []remedy.Caution{remedy.PodCaution}}, d.away(d.Facts.Node(pod), moved))
			}
		}
		p.Else = d.overlap(known, &d.Findings.All[by[a][0]].Violation)
		d.Add(by[a], p)
	}
}

// overlap is the decision about the networks of a duplicate; "": it is of one network.
func (d *Drafts) overlap(known []*ipam.Manager, x *model.Violation) string {
	var networks []string
	for _, o := range x.Objects {
		if o.Kind == model.RefNetwork {
			networks = append(networks, o.Name)
		}
	}
	for _, m := range known {
		if r, ok := ipam.Part[*Remedies](m); ok && r.Overlap != nil && len(networks) > 1 {
			if decide := r.Overlap(d, networks); decide != "" {
				return decide
			}
		}
	}
	return ""
}

// holders returns the pods with an address, sorted: those that the record names, and the
// others.
func (d *Drafts) holders(addr netip.Addr) (rightful, others []model.PodRef) {
	for _, s := range d.having[addr] {
		if slices.ContainsFunc(d.claims[addr], func(c *model.Claim) bool { return c.Container == s.ID || c.Pod == s.Pod }) {
			rightful = append(rightful, s.Pod)
		} else {
			others = append(others, s.Pod)
		}
	}
	slices.SortFunc(rightful, ByPod)
	slices.SortFunc(others, ByPod)
	return slices.Compact(rightful), slices.Compact(others)
}

// unbacked adds the pods whose addresses are not claimed, one by one. A pod that requests its
// address gets the same one again, this time with a claim.
func (d *Drafts) unbacked() {
	by := map[model.PodRef][]int{}
	for _, i := range d.Open(invariant.UnbackedSandbox.Name) {
		p := PodRef(ObjectsOf(&d.Findings.All[i].Violation)[model.RefPod])
		by[p] = append(by[p], i)
	}
	for _, pod := range slices.SortedFunc(maps.Keys(by), ByPod) {
		p := remedy.Problem{}
		if vm, ok := d.Facts.Machine(pod); ok {
			p.Try = []remedy.Remedy{{Steps: []remedy.Step{remedy.Migrate{Machine: vm, Pod: pod, Node: d.Facts.Node(pod)}}, Pods: []model.PodRef{pod}, Cautions: []remedy.Caution{remedy.PodCaution}}}
		} else if why := d.Facts.Remade(pod); why != remedy.Movable {
			p.Ruled = []remedy.Ruled{{Pod: pod, Why: why}}
		} else {
			p.Try = []remedy.Remedy{{Steps: []remedy.Step{remedy.Restart{Pods: []model.PodRef{pod}}}, Pods: []model.PodRef{pod}, Cautions: []remedy.Caution{remedy.PodCaution}}}
		}
		d.Add(by[pod], p)
	}
}
