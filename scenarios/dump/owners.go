package dump

import (
	"maps"
	"slices"

	"ipamsim/reports/layout"
	"ipamsim/scenarios/dump/kept"
	"ipamsim/scenarios/dump/workload"
)

// owned finds the controllers of the pods, and lets those recreate pods that would not create
// another pod immediately: the simulated cluster is at rest. A ReplicaSet without a Deployment
// becomes one.
func (d *Draft) owned() {
	by := map[string]*workload.Controller{}
	made := map[*kept.Pod]*Running{}
	others := map[string]int{}
	for _, all := range [][]Running{d.Running, d.waiting} {
		for i := range all {
			p := &all[i]
			o := p.Owner
			if o.Kind == "ReplicaSet" {
				o.Kind = "Deployment"
			}
			if !workload.Known(o.Kind) {
				switch {
				case o.Kind != "" && d.Options.Anonymise: // a kind may be a company's own
					others["another kind"]++
				case o.Kind != "":
					others[o.Kind]++
				}
				continue
			}
			key := o.Kind + " " + p.Namespace + "/" + o.Name
			if by[key] == nil {
				by[key] = &workload.Controller{Owner: o, Namespace: p.Namespace, Asked: map[*kept.Pod][]kept.Selection{}}
			}
			by[key].Pods = append(by[key].Pods, p.Pod)
			by[key].Asked[p.Pod], made[p.Pod] = p.Asked, p
		}
	}
	alone := map[string]int{}
	for _, key := range kept.Keys(by) {
		c := by[key]
		if w := d.Cluster.workloads[c.Kind+" "+c.Key()]; w != nil && c.Kind == "StatefulSet" {
			c.Parallel = w.Value.Parallel
		}
		if !c.Rests(d.Nodes) {
			if len(c.Pods) > 0 {
				alone[c.Kind] += len(c.Pods)
			}
			continue
		}
		for _, p := range c.Pods {
			made[p].made = c
		}
		d.owning = append(d.owning, c)
	}
	for _, kind := range slices.Sorted(maps.Keys(others)) {
		d.Left("the %s of %s: deleted pods are not recreated", kind, layout.Plural(others[kind], "pod"))
	}
	for _, kind := range slices.Sorted(maps.Keys(alone)) {
		d.Left("the %s of %s: the simulated controller would change its pods", kind, layout.Plural(alone[kind], "pod"))
	}
}

// reportPlaces reports the placement rules that are not simulated.
func (d *Draft) reportPlaces() {
	affine := 0
	for _, p := range slices.Concat(d.Running, d.waiting) {
		if p.Affine && p.Owner.Kind != "DaemonSet" { // a DaemonSet's pods are bound to their nodes by it
			affine++
		}
	}
	if affine > 0 {
		d.Left("the required node affinities of %s: recreated, they may start on any node", layout.Plural(affine, "pod"))
	}
	want := 0
	for _, c := range d.owning {
		if w := d.Cluster.workloads[c.Kind+" "+c.Key()]; w != nil && c.Kind != "DaemonSet" && c.Kind != "Job" && w.Value.Replicas != c.Replicas {
			want++
		}
	}
	if want > 0 {
		d.Unknown("why %s a different number of pods than desired: here the actual number is the desired one", layout.Count(want, "controller has", "controllers have"))
	}
}
